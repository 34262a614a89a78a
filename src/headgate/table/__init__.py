"""One table's log: load it, commit to it, publish it."""
