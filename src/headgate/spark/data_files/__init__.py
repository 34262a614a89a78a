"""From a DataFrame to data files: columns made to fit, parquet written, statistics read."""
