"""What rows must satisfy when they are written: constraints, char and varchar, identity columns."""
