"""Rows of this process as new data files: fitted, filled in, checked by the rules of the table, committed."""
