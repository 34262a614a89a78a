"""Who may move the high-water mark of an identity column: on, whoever may append; back, who may alter."""

import msgspec
import pytest

from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.commits import Ratified
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Metadata
from headgate.protocol.features import identity_columns
from headgate.protocol.features.identity_columns import IdentitySpec
from headgate.protocol.schema.types import Field, Primitive
from tests.support.broken_commits import WRITER, columns, with_features, with_properties
from tests.support.governed import ADD, Place, place, shared
from tests.support.lenient import anything_goes

__all__ = ["place", "shared"]  # fixtures

APPENDER, ALTERER = f"only {Privilege.APPEND.value}", f"only {Privilege.ALTER_SCHEMA.value}"
TAG = {"tags": {identity_columns.TAG: "true"}}


@pytest.fixture
def numbered(place: Place) -> Place:
    """A table with an identity column, of which ten values are given."""
    told = place.told()
    column = Field("id", Primitive("long"), metadata=IdentitySpec(1, 1, mark=10).written())
    with anything_goes():
        place.propose(with_features(told.protocol, "identityColumns"), columns(told.metadata, column, WRITER))
    return place


def moved(place: Place, mark: int | None) -> Metadata:
    return identity_columns.with_high_water_marks(place.told().metadata, {"id": mark})


def test_who_may_append_may_give_values(numbered: Place) -> None:
    assert isinstance(numbered.propose(ADD, moved(numbered, 12), by=APPENDER, **TAG), Ratified)
    assert isinstance(numbered.propose(moved(numbered, 20), by=APPENDER), Ratified), "reserved ones, too"
    with numbered.refuses("privileges"):
        numbered.propose(moved(numbered, 30), by=f"not {Privilege.APPEND.value}")


@pytest.mark.parametrize("mark", [9, None])
def test_values_are_given_again_only_by_who_may_alter(numbered: Place, mark: int | None) -> None:
    with numbered.refuses("privileges"):
        numbered.propose(ADD, moved(numbered, mark), by=APPENDER, **TAG)

    assert isinstance(numbered.propose(moved(numbered, mark), by=ALTERER, **TAG), Ratified)


def test_nothing_else_passes_for_a_mark_that_moved(numbered: Place) -> None:
    """T13"""
    on = moved(numbered, 12)
    step = Field("id", Primitive("long"), metadata=IdentitySpec(1, 2, mark=12).written())
    others = [
        with_properties(on, acme="1"),
        msgspec.structs.replace(on, description="x"),
        columns(on, step, WRITER),
    ]
    for other in others:
        with numbered.refuses("privileges"):
            numbered.propose(ADD, other, by=APPENDER)
        with numbered.refuses("privileges"):
            numbered.propose(ADD, other, by=APPENDER, **TAG)
        with pytest.raises(InvalidRequest, match="does more") as caught:
            numbered.propose(ADD, other, **TAG)
        assert caught.value.fields["rule"] == "identity-tag"


def test_a_frozen_table_still_gives_values(numbered: Place) -> None:
    numbered.catalog.granting.set_rule("freeze_metadata", "true", numbered.name)

    with numbered.refuses("metadata-protection"):
        numbered.propose(moved(numbered, 9))
    assert isinstance(numbered.propose(ADD, moved(numbered, 12), by=APPENDER), Ratified)
