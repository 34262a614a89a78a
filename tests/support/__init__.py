"""Builders and fakes that tests call; nothing here is injected."""
