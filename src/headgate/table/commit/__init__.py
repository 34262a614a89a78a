"""Committing: the loop, the routes a proposal can take, publishing, and what follows a commit."""
