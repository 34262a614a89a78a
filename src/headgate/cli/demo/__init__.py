"""``headgate demo``: a small lake, built before your eyes, that checks what it says."""
