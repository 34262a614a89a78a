"""Parquet files as they are: footers, schemas, and logical columns over physical ones."""
