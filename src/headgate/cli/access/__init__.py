"""The commands about who may do what: grants, groups and tokens."""
