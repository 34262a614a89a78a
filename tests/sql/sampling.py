"""How much of the bank is run in ``make test`` where it takes long; ``make sql`` runs all of it."""

import os

from tests.sql.bank import Group, load_bank

ALL = "HEADGATE_TESTS_SQL"
"""Set it, and every group runs on Spark Connect and on Delta Spark too."""
EVERY = 6


def sampled_groups() -> tuple[Group, ...]:
    """All groups if they are asked for, else one in six, and one of each file at least."""
    groups = load_bank()
    if os.environ.get(ALL):
        return groups
    firsts = {group.file: group for group in reversed(groups)}.values()
    return tuple(each for place, each in enumerate(groups) if place % EVERY == 0 or each in firsts)
