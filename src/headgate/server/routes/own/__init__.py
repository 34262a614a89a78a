"""The API of our own clients: one operation for each method of the ports."""
