"""What a notebook shows of what a user holds: facts that are looked up, and how they are said."""
