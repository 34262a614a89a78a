"""How much of the bank is run in ``make test`` where it takes long; ``make sql`` runs all of it."""

import os

from tests.sql.bank import Group, load_bank

ALL = "HEADGATE_TESTS_SQL"
"""Set it, and every group runs on Spark Connect and on Delta Spark too."""
EVERY = 12


def sampled_groups() -> tuple[Group, ...]:
    """All groups if they are asked for, else one in twelve, and a short one of each other file."""
    groups = load_bank()
    if os.environ.get(ALL):
        return groups
    chosen = groups[::EVERY]
    others = {group.file for group in groups} - {group.file for group in chosen}
    short = [min((group for group in groups if group.file == file), key=_length) for file in others]
    return tuple(group for group in groups if group in chosen or group in short)


def _length(group: Group) -> tuple[bool, int]:
    """Those first that Delta Spark has too."""
    return not group.of_delta, len(group.statements)
