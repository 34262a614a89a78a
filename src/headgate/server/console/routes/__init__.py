"""The addresses of the console's pages."""
