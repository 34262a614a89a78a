"""The versions in the history of a column's type, before and after a lost race."""

import msgspec

from headgate.protocol.actions import Version
from headgate.protocol.schema import type_widening
from tests.support.commits import ONE_COLUMN, metadata


def change(version: int) -> dict[str, object]:
    return {"fromType": "short", "toType": "long", "tableVersion": version}


def column(inner: object, *changes: dict[str, object]) -> dict[str, object]:
    return {"name": "c", "type": inner, "nullable": True, "metadata": {"delta.typeChanges": list(changes)}}


def schema(*changes: dict[str, object]) -> dict[str, object]:
    """A column with such changes, one of its fields with the same."""
    inner = {"type": "struct", "fields": [column("long", *changes)]}
    return {"type": "struct", "fields": [column(inner, *changes)]}


def test_only_the_changes_of_the_lost_version_move_and_nothing_else_changes() -> None:
    before = metadata(msgspec.json.encode(schema(change(2), change(7))).decode())

    moved = type_widening.renumber_type_changes(before, Version(7), Version(9))

    assert msgspec.json.decode(moved.schema_string) == schema(change(2), change(9))


def test_a_schema_without_changes_stays_as_it_was_written() -> None:
    before = metadata(ONE_COLUMN.replace(",", ", "))

    assert type_widening.renumber_type_changes(before, Version(7), Version(9)) is before
