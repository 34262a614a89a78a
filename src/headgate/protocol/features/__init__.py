"""What single table features ask of a commit: row tracking, clustering, identity columns and others."""
