"""The console: pages for people who look at a lake, served beside the API and by its rules."""
