"""Who owns tables and ratifies their commits."""
