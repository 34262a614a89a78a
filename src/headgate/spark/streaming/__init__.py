"""Streams into tables: the sink, its batches and their options."""
