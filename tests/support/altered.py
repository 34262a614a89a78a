"""Tables in memory that are altered, and what one sees of them afterwards."""

from headgate.protocol import table_features
from headgate.protocol.actions import Action, AddFile, Version
from headgate.protocol.log import codec, file_names
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.routes import Place, create, open_table


def new(route: str, *words: str) -> tuple[Place, OpenedTable]:
    """A new table of these words, and where it is."""
    place = create(words, managed=route != "filesystem")
    return place, open_table(place, route)


def write(table: OpenedTable, *actions: Action) -> Version:
    """Commit these actions after the newest version."""
    return table.commit(Change(Operation("WRITE"), actions), base=table.snapshot())


def named(table: OpenedTable) -> frozenset[str]:
    """The features of the table."""
    return table_features.writer_features(table.snapshot().state.protocol)


def configuration(table: OpenedTable) -> dict[str, str]:
    """The properties of the table."""
    return dict(table.snapshot().state.metadata.configuration)


def ids(table: OpenedTable) -> list[int | None]:
    """The first row id of each live file, by path."""
    found = table.snapshot().files.columns.sort_by("path")
    return list(found["base_row_id"].to_pylist())


def operations(table: OpenedTable) -> list[str | None]:
    """What happened to the table since it was made, oldest first."""
    return [entry.info.operation for entry in reversed(table.history())][1:]


def adds(table: OpenedTable, version: int) -> tuple[AddFile, ...]:
    """What one version adds, everything it says of it."""
    table.publish()
    return codec.decode(Version(version), table.store.read(file_names.published_path(Version(version)))).adds
