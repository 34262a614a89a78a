"""What a catalog offers to whoever stands above it: ports, and the values that pass through them."""
