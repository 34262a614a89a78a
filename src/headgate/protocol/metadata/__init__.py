"""What a table says of itself, and what a statement or a write makes of it."""
