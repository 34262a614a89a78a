"""What tables need from time to time, and the worker that does it: VACUUM, clean-up, recovery."""
