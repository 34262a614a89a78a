"""The data files of a table, as far as they are read without an engine."""
