"""What users are told when they make a typical mistake."""
