"""Streams out of a table: which files each batch has, by offsets and the log alone."""
