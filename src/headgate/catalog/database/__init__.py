"""The database of a catalog: SQLite or PostgreSQL, its connections, its queue and its failures."""
