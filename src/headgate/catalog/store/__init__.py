"""The rows of the catalog: tables and queries, without a decision among them."""
