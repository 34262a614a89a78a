"""``headgate sql``: statements of SQL over a lake, typed, from a file or from a pipe."""
