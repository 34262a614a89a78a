"""Commit coordinators, which ratify commits of tables that no catalog manages (the seeds: commit owners)."""
