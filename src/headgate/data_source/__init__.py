"""``format("headgate")``: tables as a data source of Spark that is written in Python."""
