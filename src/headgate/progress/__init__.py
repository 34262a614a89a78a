"""How far long work has come, for who waits for it: on a terminal, in a notebook, and nowhere else."""
