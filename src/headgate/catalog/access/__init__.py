"""Who may do what: privileges, and the policies that a commit must satisfy."""
