"""Conditions on rows, as a tree: from SQL, to text, and what comparing values means."""
