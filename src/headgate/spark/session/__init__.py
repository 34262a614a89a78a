"""What depends on the Spark session: its kind, its settings, schemas and checkpoints."""
