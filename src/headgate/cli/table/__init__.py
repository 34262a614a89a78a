"""The commands about tables, schemas and metadata domains."""
