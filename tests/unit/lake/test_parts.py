"""What a user holds is made of parts, none of which is another one, and offers every call of theirs."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from headgate.lake.access import LakeAccess
from headgate.lake.activity import LakeActivity
from headgate.lake.adopt import TableAdoption
from headgate.lake.clone import TableCloning
from headgate.lake.create import TableCreation
from headgate.lake.definition import TableAlteration
from headgate.lake.directory import LakeDirectory
from headgate.lake.lake import Lake
from headgate.lake.small_data import SmallData
from headgate.lake.table import Table

PARTS: tuple[tuple[type, type, frozenset[str]], ...] = (
    (Lake, TableCreation, frozenset({"create", "stage", "destination"})),
    (Lake, TableCloning, frozenset()),
    (Lake, TableAdoption, frozenset()),
    (Lake, LakeDirectory, frozenset()),
    (Lake, LakeActivity, frozenset({"stop_listening"})),
    (Lake, LakeAccess, frozenset()),
    (Table, TableAlteration, frozenset()),
    (Table, SmallData, frozenset({"append_local"})),
)
"""Who has which part, and what of it is for other parts only."""


def _calls() -> Iterator[Any]:
    for owner, part, inner in PARTS:
        for name, method in inspect.getmembers(part, inspect.isfunction):
            if not name.startswith("_") and name not in inner:
                yield pytest.param(owner, name, method, id=f"{owner.__name__}.{name}")


@pytest.mark.parametrize(("owner", "name", "method"), list(_calls()))
def test_an_owner_offers_every_call_of_its_part(owner: type, name: str, method: Any) -> None:
    offered = getattr(owner, name)

    assert inspect.unwrap(offered) is method
    assert inspect.signature(offered) == inspect.signature(method)
    assert inspect.getdoc(offered) == inspect.getdoc(method) is not None


@pytest.mark.parametrize("made_of_parts", [Lake, Table, *(part for _, part, _ in PARTS)])
def test_nothing_a_user_holds_inherits_from_a_part(made_of_parts: type) -> None:
    assert made_of_parts.__mro__ == (made_of_parts, object)
