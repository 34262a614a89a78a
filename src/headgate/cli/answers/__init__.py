"""What commands print as JSON: a shape for each, light enough to be loaded by every command."""
