"""The rules of Delta, on paper: nothing here reads a file, a clock or a database."""
