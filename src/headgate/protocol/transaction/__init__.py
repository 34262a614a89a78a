"""What one transaction read, writes and is called, as far as conflicts are concerned."""
