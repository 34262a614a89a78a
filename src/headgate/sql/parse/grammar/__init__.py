"""The statements by their first words: rows of the grammar, and how each is read."""
