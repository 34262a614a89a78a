"""Statements about a table that write no rows: columns, properties, clones, restores, changes of hands."""
