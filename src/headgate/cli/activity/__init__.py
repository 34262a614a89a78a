"""The commands about what happened: commits, transactions over several tables, and events."""
