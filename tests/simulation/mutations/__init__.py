"""The ways to be wrong, by the part of the product that they are in."""
