"""Columns and their types, as the log's ``schemaString`` describes them."""
