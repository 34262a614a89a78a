"""What a user holds: a lake, its tables, transactions, and what may be asked of them."""
