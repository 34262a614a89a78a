"""Tutorials: what a page has its reader type, and two readers who type it and look at what is shown."""
