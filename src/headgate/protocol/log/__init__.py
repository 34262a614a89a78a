"""The files of a ``_delta_log``: names, commits as bytes, which files make a version, what they add up to."""
