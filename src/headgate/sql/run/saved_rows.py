"""How do the rows of a DataFrame get into a table of a lake by its name: made, added to or replaced?

The doors of Spark's writers and CREATE TABLE … AS SELECT end here. Inside a transaction of the session a
table is made and written to there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest, TableExists, TableNotFound
from headgate.lake.path_table import write_path
from headgate.lake.table import Table
from headgate.lake.transaction import LakeTransaction
from headgate.spark.write.save import SaveMode
from headgate.sql.run.name_scope import Found, NameScope, PathTable, table_or_view_not_found

_MODES: Mapping[str, SaveMode] = {
    "error": "error",
    "errorifexists": "error",
    "default": "error",
    "ignore": "ignore",
    "append": "append",
    "overwrite": "overwrite",
}
_NOT_FOR_NEW = ("overwrite_schema", "replace_where", "replace_using", "replace_on", "partition_overwrite")


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows for a table, and what it is if it is made for them."""

    df: DataFrame
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of writes, with partition_by and cluster_by."""


def save(scope: NameScope, found: Found, mode: str, new: NewRows) -> Table:
    """Save rows to a table that may not be there yet."""
    wanted = _MODES.get(mode.lower())
    if wanted is None:
        raise InvalidRequest(f"the mode {mode!r} is none of {', '.join(sorted(set(_MODES.values())))}")
    options = {"implicit_casts": True, **new.options}
    try:
        if isinstance(found, PathTable):
            return write_path(new.df, found.path, mode=wanted, properties=new.properties, **options)
        transaction = scope.transaction(found.lake)
        if transaction is None:
            return found.lake.write(
                new.df, str(found.name), mode=wanted, properties=new.properties, **options
            )
        return _save_in(transaction, str(found.name), wanted, new)
    except TableExists as exc:
        raise already_exists(found) from exc


def replace(scope: NameScope, found: Found, new: NewRows, *, or_create: bool) -> Table:
    """Put a table with these rows in place of one."""
    if isinstance(found, PathTable):
        raise InvalidRequest(
            f"{found.name} is a path: write df.write.mode('overwrite').option('overwriteSchema', True), or "
            "headgate.write_path(df, path, mode='overwrite', overwrite_schema=True)"
        )
    refuse_transaction(scope, found, "REPLACE TABLE")
    try:
        return found.lake.replace_table(
            str(found.name),
            rows=new.df,
            or_create=or_create,
            comment=new.comment,
            properties=new.properties,
            **new.options,
        )
    except TableNotFound as exc:
        raise table_or_view_not_found(str(found.name)) from exc


def already_exists(found: Found) -> TableExists:
    """That there is such a table, as Spark calls it."""
    return TableExists(
        f"there is a table or view {found.name} already: choose another name, or say IF NOT EXISTS, OR "
        "REPLACE, or a mode that writes to it",
        code="TABLE_OR_VIEW_ALREADY_EXISTS",
        name=str(found.name),
    )


def refuse_transaction(scope: NameScope, found: Found, statement: str) -> None:
    """Refuse what cannot be a part of a transaction while one is running."""
    if not isinstance(found, PathTable) and scope.transaction(found.lake) is not None:
        raise InvalidRequest(
            f"{statement} cannot be a part of a transaction: COMMIT or ROLLBACK first",
            code="DELTA_OPERATION_NOT_ALLOWED",
        )


def _save_in(transaction: LakeTransaction, name: str, mode: SaveMode, new: NewRows) -> Table:
    try:
        table = transaction.table(name)
    except TableNotFound:
        options = dict(new.options)
        made = transaction.create_table(
            name,
            new.df,
            comment=new.comment,
            properties=new.properties,
            partition_by=options.pop("partition_by", ()),
            cluster_by=options.pop("cluster_by", None) or (),
        )
        made.append(new.df, **{key: value for key, value in options.items() if key not in _NOT_FOR_NEW})
        return made
    options = {"implicit_casts": True, **new.options}
    match mode:
        case "error":
            raise TableExists(f"there is a table {name}", name=name)
        case "append":
            table.append(new.df, **options)
        case "overwrite":
            table.overwrite(new.df, **options)
        case "ignore":
            pass
    return table
