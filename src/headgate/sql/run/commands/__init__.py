"""What each statement does, by the noun it is about."""
