"""Headgate and a peer doing the same work, side by side."""
