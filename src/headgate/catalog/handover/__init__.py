"""Tables that come into the hands of the catalog, leave them, or are taken in again after a loss."""
