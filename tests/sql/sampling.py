"""How much of the bank is run in ``make test`` where it takes long; ``make sql`` runs all of it."""

import os

from tests.sql.bank import Group, load_bank

ALL = "HEADGATE_TESTS_SQL"
"""Set it, and every group runs on Spark Connect and on Delta Spark too."""
EVERY = 12


def sampled_groups() -> tuple[Group, ...]:
    """All groups if they are asked for, else one in twelve."""
    groups = load_bank()
    return groups if os.environ.get(ALL) else groups[::EVERY]
