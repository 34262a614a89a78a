"""Bytes on object stores, and nothing about what they mean."""
