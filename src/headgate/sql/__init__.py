"""SQL on the tables of a lake: what a text says, and what is done for it."""
