"""Commits that this release's catalog would refuse, ratified all the same: as by a catalog of another one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from typing_extensions import override

from headgate.catalog.ports.maintenance import Maintenance, Permission
from headgate.catalog.validation import content_rules, table_rules, text_rules
from headgate.table.upkeep.permissions import PathGuard


class AllPermitted(PathGuard):
    """A guard that lets everything be done."""

    @override
    def check(self, kind: Maintenance, operation: str) -> Permission:
        return Permission.ALWAYS


@contextmanager
def anything_goes() -> Iterator[None]:
    """Let commits pass that break rules, as long as they can be parsed."""
    with ExitStack() as stack:
        for module in (content_rules, text_rules, table_rules):
            stack.enter_context(patch.object(module, "RULES", ()))
        yield
