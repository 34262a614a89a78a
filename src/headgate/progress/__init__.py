"""How far long work has come, for those who wait for it: on a terminal, in a notebook, and nowhere else."""
