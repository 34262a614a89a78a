"""The older routes of Unity Catalog: catalogs, schemas, tables, and commits by ``delta/preview``."""
