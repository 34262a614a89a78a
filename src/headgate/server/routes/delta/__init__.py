"""The Delta API of Unity Catalog, ``/delta/v1``: what new Delta engines speak."""
