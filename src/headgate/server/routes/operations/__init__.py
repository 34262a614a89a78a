"""What operators ask a server: whether it lives, whether it is ready, and how it is doing."""
