"""Everything that touches rows: Spark jobs, through PySpark."""
