"""``headgate table create``, ``set`` and ``unset``: what a table is."""

from collections.abc import Iterable
from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.tables import PlacedTable, TableVersion
from headgate.cli.options import AsJson, LakePlace, TableArgument
from headgate.errors import InvalidRequest

_NAMES = "with commas between them"


def create(
    table: Annotated[str, typer.Argument(help="The name of the new table, as schema.table.")],
    columns: Annotated[
        str, typer.Argument(help='Its columns as SQL has them: "id BIGINT NOT NULL, day DATE".')
    ],
    *,
    comment: Annotated[str | None, typer.Option("--comment", help="What it is, in words.")] = None,
    properties: Annotated[
        list[str] | None, typer.Option("--property", metavar="NAME=VALUE", help="A property; repeatable.")
    ] = None,
    partition_by: Annotated[
        str, typer.Option("--partition-by", help=f"Columns to partition by, {_NAMES}.")
    ] = "",
    cluster_by: Annotated[str, typer.Option("--cluster-by", help=f"Columns to cluster by, {_NAMES}.")] = "",
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Make an empty table in a schema.

    The schema must be there: headgate schema create makes one.
    """
    with folder.open_lake(lake) as opened:
        opened.lake.create_table(
            table,
            columns,
            comment=comment,
            properties=_pairs(properties or ()),
            partition_by=_names(partition_by),
            cluster_by=_names(cluster_by),
        )
        entry = next(found for found in opened.lake.tables() if str(found.name) == table.lower())
    made = PlacedTable(table=str(entry.name), id=entry.table_id, location=entry.location)
    if as_json:
        console.show_json(made)
    else:
        console.say(f"{made.table} is made, in {made.location}")


def set_properties(
    table: TableArgument,
    properties: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE", help="Such as delta.appendOnly=true.")
    ],
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Give properties of a table these values, in one commit."""
    with folder.open_lake(lake) as opened:
        version = opened.lake.table(table).set_properties(_pairs(properties))
    _show_version(table, version, as_json=as_json)


def unset_properties(
    table: TableArgument,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Such as delta.appendOnly.")],
    *,
    if_exists: Annotated[bool, typer.Option("--if-exists", help="Pass over those it does not have.")] = False,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Take properties of a table away, in one commit."""
    with folder.open_lake(lake) as opened:
        version = opened.lake.table(table).unset_properties(names, if_exists=if_exists)
    _show_version(table, version, as_json=as_json)


def _show_version(table: str, version: int, *, as_json: bool) -> None:
    if as_json:
        console.show_json(TableVersion(table=table, version=version))
    else:
        console.say(f"{table} is at version {version}")


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _pairs(said: Iterable[str]) -> dict[str, str]:
    pairs = [each.partition("=") for each in said]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise InvalidRequest(f"{name!r} is no property with a value: write it as name=value")
    return {name: value for name, _, value in pairs}
