"""MERGE: its clauses, its source, the columns of its result, and the statement itself."""
