"""Webhooks: what happens in a lake, told to programs that have an address."""
