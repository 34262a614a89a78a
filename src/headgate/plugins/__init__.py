"""What users register, or bring by entry points: domain handlers, coordinators, policies."""
