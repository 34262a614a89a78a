"""Statements that neither read nor change rows for a user: history, detail, convert, constraints."""
