"""What a SQL text says: from text to a statement's value, without an engine."""
