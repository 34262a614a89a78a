"""What the log tells about the values in a file, and which files a condition can do without."""
