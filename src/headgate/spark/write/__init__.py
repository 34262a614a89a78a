"""Append, overwrite and replace: what a write selects, replaces and commits."""
