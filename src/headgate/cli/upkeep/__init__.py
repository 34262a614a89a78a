"""The commands that keep a lake in order, serve it, or bring it back."""
