"""Random histories of one table in two hands, Headgate's and Delta Spark's, beside a model of plain rows."""
