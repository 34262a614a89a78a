"""Saving rows to a table that may not exist yet: what each mode does in either case."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from pyspark.sql import DataFrame

from headgate.deferred import deferred
from headgate.errors import InvalidRequest, TableExists, TableNotFound, UserError
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.write_options import WriteOptions
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.location import NewTableLocation
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.spark.session import table_defaults
    from headgate.spark.write import append_overwrite, create_as
else:
    table_defaults = deferred("headgate.spark.session", "table_defaults")
    append_overwrite, create_as = deferred("headgate.spark.write", "append_overwrite", "create_as")

SaveMode = Literal["error", "ignore", "append", "overwrite"]
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """Rows, where they go, and how."""

    df: DataFrame
    name: str
    mode: SaveMode
    options: WriteOptions
    properties: Mapping[str, str]
    """Those of the table, if it is made."""

    @property
    def first(self) -> WriteOptions:
        """The options of the write that makes the table; only an overwrite says which rows it replaces."""
        return self.options if self.mode == "overwrite" else self.options.for_append()


def save(
    request: SaveRequest, find: Callable[[], OpenedTable], make: Callable[[TableDefinition], OpenedTable]
) -> OpenedTable:
    """Save rows to the table that ``find`` finds, or that ``make`` makes with them; the table.

    ``find`` raises ``TableNotFound`` if there is none, ``make`` ``TableExists`` if there is one by then.
    """
    mode = request.mode
    if mode not in get_args(SaveMode):
        raise InvalidRequest(f"the mode {mode!r} is none of {', '.join(get_args(SaveMode))}: choose one")
    try:
        table = find()
    except TableNotFound:
        definition = replace(
            create_as.definition_from_rows(request.df, request.first),
            properties=request.properties,
            defaults=table_defaults.default_properties(request.df.sparkSession),
        )
        try:
            return make(definition)
        except TableExists:
            if mode == "error":
                raise
            table = find()  # somebody made it meanwhile
    match mode:
        case "error":
            raise TableExists(
                f"the table {request.name} exists already: choose another name, or the mode append, "
                "overwrite or ignore",
                name=request.name,
            )
        case "append":
            append_overwrite.append(table, request.df, request.options.for_append())
        case "overwrite":
            append_overwrite.overwrite(table, request.df, request.options)
        case "ignore":
            pass
    return table


def create_with_rows(
    site: NewTableLocation,
    definition: TableDefinition,
    df: DataFrame,
    options: WriteOptions,
    *,
    register: Callable[[], Made] | None = None,
) -> Made | None:
    """Make a table at ``site`` that has the rows of ``df`` from its first version on.

    A catalog's table is made by ``register`` once its first commit is written; its answer is returned.
    """
    managed = register is not None
    content, written = create_as.first_commit(site, definition, df, options, managed=managed)
    try:
        create.write_first_commit(site.store, content, managed=managed)
        return None if register is None else register()
    except UserError:  # nobody will ever refer to what was written
        data_file_writer.discard(site.store, written)
        raise
