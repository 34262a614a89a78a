"""Parts of what a user holds, whose calls it offers as its own."""
