"""What is asked about callers themselves: their tokens, and tokens for the secrets of clients."""
