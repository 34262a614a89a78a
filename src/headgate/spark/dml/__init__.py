"""DELETE, UPDATE and MERGE: which rows are concerned, and the cheapest way to change their files."""
