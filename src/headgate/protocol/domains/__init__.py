"""Metadata domains: what may be set, how a domain lives and ends, and who settles a race about one."""
