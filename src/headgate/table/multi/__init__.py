"""Transactions over several tables: what was done is collected, combined and proposed as one."""
