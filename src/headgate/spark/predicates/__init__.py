"""Conditions between Spark and the protocol: columns, SQL text, pushed filters."""
