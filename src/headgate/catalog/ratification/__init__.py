"""Proposals become versions: the gate, the decision written down, groups, and publication."""
