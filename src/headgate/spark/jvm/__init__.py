"""The few things that are asked of the JVM behind a classic Spark session, one door each."""
