"""``headgate stream``: rows of a table as they are committed, and the streams that write to tables."""
