"""What the content of a commit must satisfy to be ratified: the rules, as rows."""
