"""Rows without Spark: small tables read into Arrow, and batches appended, by the same rules."""
