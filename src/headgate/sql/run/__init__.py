"""What statements do: each is one call of a lake or of a table, and a frame that tells what became of it."""
