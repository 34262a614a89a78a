"""From a snapshot to a DataFrame: which files, read how, without their deleted rows."""
