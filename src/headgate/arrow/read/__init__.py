"""Rows of a snapshot: which files, which rows of them, and their columns as the table has them."""
