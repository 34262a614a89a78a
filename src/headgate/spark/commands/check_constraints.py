"""Adding CHECK constraints to a table whose rows meet them, and taking them away."""

import msgspec
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType

from headgate.errors import ConstraintViolated, InvalidRequest
from headgate.protocol import protocol_upgrade, table_features
from headgate.protocol.actions import Action, Metadata, Version
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.sql_functions import ExpressionPlace
from headgate.protocol.metadata.table_properties import CONSTRAINT_PREFIX
from headgate.protocol.transaction.attempt import ReadSet
from headgate.spark.calls import errors, spark_messages
from headgate.spark.rules import stored_sql
from headgate.spark.scan import scan
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_SHOWN = 5


@errors.translated_errors(errors.unreadable_file)
def add(spark: SparkSession, table: OpenedTable, name: str, expression: str) -> Version:
    """Demand of every row, those that are there included, that ``expression`` is true.

    Whoever adds rows meanwhile wins, because nobody has looked at those.
    """
    if not name or "." in name or not name.isprintable():
        raise InvalidRequest(f"{name!r} is not a name for a constraint: use letters, digits and underscores")
    base = table.snapshot()
    present = _existing_constraint(base.state.metadata, name)
    if present is not None:
        raise InvalidRequest(
            f"there is already a constraint {name!r} ({present[1]}): drop it first, or choose another name",
            code="DELTA_CONSTRAINT_ALREADY_EXISTS",
        )
    stored_expressions.check_expression(expression, ExpressionPlace.CONSTRAINT, name)
    _check_rows(scan.read(spark, table, base), name, expression)
    properties = {**base.state.metadata.configuration, CONSTRAINT_PREFIX + name.lower(): expression}
    operation = Operation("ADD CONSTRAINT", {"name": name, "expr": expression})
    return _commit(table, base, operation, properties, reads=ReadSet(whole_table=True))


def drop(table: OpenedTable, name: str, *, if_exists: bool = False) -> Version:
    """Demand it no longer; the version from which on rows may be otherwise."""
    base = table.snapshot()
    present = _existing_constraint(base.state.metadata, name)
    if present is None:
        if if_exists:
            return base.version
        raise InvalidRequest(
            f"the table has no constraint {name!r}: correct the name, or say if_exists=True",
            code="DELTA_CONSTRAINT_DOES_NOT_EXIST",
        )
    key, expression = present
    properties = {other: value for other, value in base.state.metadata.configuration.items() if other != key}
    operation = Operation("DROP CONSTRAINT", {"name": name, "expr": expression})
    return _commit(table, base, operation, properties, reads=ReadSet())


def _existing_constraint(metadata: Metadata, name: str) -> tuple[str, str] | None:
    wanted = (CONSTRAINT_PREFIX + name).lower()
    return next((item for item in metadata.configuration.items() if item[0].lower() == wanted), None)


def _check_rows(rows: DataFrame, name: str, expression: str) -> None:
    try:
        found = rows.select(F.expr(expression)).schema[0].dataType
    except PySparkException as exc:
        raise InvalidRequest(
            f"{expression!r} is not a condition on the table's columns: {spark_messages.plain_message(exc)}; "
            "correct it"
        ) from exc
    if not isinstance(found, BooleanType):
        raise InvalidRequest(
            f"the constraint {name!r} ({expression}) is of type {found.simpleString()}: write a condition "
            "that is true or false",
            code="DELTA_NON_BOOLEAN_CHECK_CONSTRAINT",
        )
    broken = rows.where(~stored_sql.constraint(expression, name))
    some = broken.limit(_SHOWN + 1).collect()
    if some:
        count = f"{len(some)}" if len(some) <= _SHOWN else f"more than {_SHOWN}"
        raise ConstraintViolated(
            f"{count} rows of the table break {expression}, such as {some[0].asDict(recursive=True)}; the "
            f"constraint {name!r} was not added: fix or delete those rows first",
            code="DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", constraint=name, row=str(some[0]),
        )  # fmt: skip


def _commit(
    table: OpenedTable, base: Snapshot, operation: Operation, properties: dict[str, str], *, reads: ReadSet
) -> Version:
    metadata = msgspec.structs.replace(base.state.metadata, configuration=properties)
    protocol = protocol_upgrade.protocol_for_changed_table(base.state.protocol, metadata)
    table_features.check_writable(protocol, metadata)
    actions: tuple[Action, ...] = (metadata,)
    if protocol != base.state.protocol:
        actions = (protocol, metadata)
    return table.commit(Change(operation, actions, reads=reads), base=base)
