"""From a log to a snapshot: commits, checkpoints, checksums and the live files of a version."""
