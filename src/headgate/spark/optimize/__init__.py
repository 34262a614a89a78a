"""The same rows in other files: OPTIMIZE, Z-order and clustering."""
