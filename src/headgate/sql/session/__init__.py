"""What a Spark session does with names of tables that are a lake's."""
