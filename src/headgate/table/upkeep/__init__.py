"""The upkeep of one log: checkpoints, compactions, and files of the log that may go."""
