"""What calls of users share that may reach Spark: its arguments, its moments, and what its errors mean."""
