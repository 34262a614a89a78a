"""Lakes that a Spark session knows by name."""
