"""The history of the catalog's own tables, applied by Alembic."""
