"""How do the rows of a DataFrame get the values of identity columns, and how far did these go?

Spark numbers rows by partition and by place within it. That number is taken in the stage that also stores
the rows: behind no shuffle, so a task that is run again gives the same values, and of a partition that
ran twice only one result is kept. Two partitions never share a value (``unique_row_number``), whatever Spark
makes of their number while the job runs. No Python sees a row, so it works on Spark Connect as well.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField

from headgate.errors import InvalidRequest
from headgate.protocol.actions import Metadata
from headgate.protocol.features import identity_columns
from headgate.protocol.features.identity_columns import IdentitySpec
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.spark.calls import errors
from headgate.spark.session import internal_names
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.internal_names import InternalNames

_PARTITION_BITS = 33
"""Where ``monotonically_increasing_id`` has the number of the partition."""
_FAILURE = re.compile(r"HEADGATE_IDENTITY\[(.*?)\]HEADGATE", re.DOTALL)


@dataclass(frozen=True, slots=True)
class IdentityGenerator:
    """Where the values of an identity column start, and by how much each is larger than the one before."""

    start: int = 1
    step: int = 1


def identity_column(
    name: str,
    generator: IdentityGenerator = IdentityGenerator(),  # noqa: B008 — frozen
    *,
    by_default: bool = False,
    nullable: bool = True,
    comment: str | None = None,
) -> StructField:
    """A column of type BIGINT that gives every row a value of its own, for the columns of a new table.

    It is GENERATED ALWAYS AS IDENTITY, or, if rows may bring values of their own, ``by_default``. Values
    are unique and go on in the direction of the step; there may be gaps between them.

        ids = headgate.identity_column("id", headgate.IdentityGenerator(start=1_000))
    """
    said = dict(IdentitySpec(generator.start, generator.step, allows_explicit=by_default).written())
    identity_columns.identity_spec(Field(name, Primitive("long"), metadata=said))
    return StructField(name, LongType(), nullable, said if comment is None else {**said, "comment": comment})


def with_row_numbers(rows: DataFrame, own: InternalNames) -> DataFrame:
    """The rows with a number each, for ``value``; nothing may shuffle them before they are stored."""
    return with_compact_numbers(rows.withColumn(own.number, F.monotonically_increasing_id()), own)


def with_compact_numbers(rows: DataFrame, own: InternalNames) -> DataFrame:
    """The rows whose numbers say partition and place within it, as ``unique_row_number`` numbers them."""
    number, a, b = own.number, own.digits_a, own.digits_b
    partition = f"(shiftright({number}, {_PARTITION_BITS}) + 1L)"
    row = f"({number} & {(1 << _PARTITION_BITS) - 1}L)"
    run = f"(shiftright({row}, {identity_columns.RUN_BITS}) + 1L)"
    # Half way to the next number, a logarithm is never so near a whole one that rounding could matter.
    digits = {
        name: F.expr(f"CAST(log2(CAST({counted} AS DOUBLE) + 0.5D) AS INT)")
        for name, counted in ((a, partition), (b, run))
    }
    before = f"(CAST(2 * {a} + {b} - 1 AS BIGINT) * shiftleft(1L, {a} + {b}) + 1L)"
    in_box = f"(({partition} - shiftleft(1L, {a})) * shiftleft(1L, {b}) + {run} - shiftleft(1L, {b}))"
    within = f"({row} & {(1 << identity_columns.RUN_BITS) - 1}L)"
    place = F.expr(f"shiftleft({before} + {in_box}, {identity_columns.RUN_BITS}) + {within}")
    return rows.withColumns(digits).withColumn(number, place).drop(a, b)


def identity_value(name: str, of: IdentitySpec, number: str) -> Column:
    """The value of an identity column for rows that are ``numbered``, under that name."""
    most = min(of.left, identity_columns.MAX_BIGINT // abs(of.step)) - 1
    if most < 0:
        raise identity_columns.exhausted_error(of, name)
    told = f"HEADGATE_IDENTITY[{name}]HEADGATE"
    place = F.col(number)
    given = F.lit(of.following).cast("bigint") + F.lit(of.step).cast("bigint") * place
    return F.when(place > F.lit(most).cast("bigint"), F.raise_error(F.lit(told)).cast("bigint")).otherwise(
        given
    )


def fill_identity(rows: DataFrame, columns: Mapping[str, IdentitySpec]) -> DataFrame:
    """The rows with values of their own in these columns."""
    if not columns:
        return rows
    own = internal_names.free_names(rows.columns)
    values = {name: identity_value(name, of, own.number) for name, of in columns.items()}
    return with_row_numbers(rows, own).withColumns(values).drop(own.number)


def values_exhausted(failure: Exception) -> InvalidRequest | None:
    """The error behind a job that found too few values left, or None if it failed for another reason."""
    found = _FAILURE.search(errors.failure_text(failure))
    if found is None:
        return None
    return InvalidRequest(
        f"the identity column {found[1]!r} has fewer values left, up to the end of BIGINT, than the rows "
        "take; nothing was committed: replace the column by one that starts elsewhere",
        code=identity_columns.EXHAUSTED, column=found[1],
    )  # fmt: skip


def check_no_explicit_values(rows: DataFrame, metadata: Metadata) -> None:
    """Refuse rows that bring values for a column that is GENERATED ALWAYS."""
    if identity_columns.PREFIX in metadata.schema_string:
        identity_columns.check_explicit_inserts(
            spark_schema.frame_schema(rows), schema_json.parse(metadata.schema_string)
        )


def farthest_values(
    footers: Sequence[pq.FileMetaData], metadata: Metadata, read: Callable[[], DataFrame]
) -> Mapping[str, int]:
    """For each identity column the farthest value in files with these footers, ``read`` if they do not tell.

    A column that is null everywhere has none.
    """
    columns = identity_columns.columns_of_table(metadata)
    if not columns or not footers:
        return {}
    mode, schema = column_mapping.mapping_mode(metadata), schema_json.parse(metadata.schema_string)
    found = {}
    for name, of in columns.items():
        stored = column_mapping.physical_name(_field(schema, name), mode)
        bounds = [_bounds(footer, stored) for footer in footers]
        if any(bound is None for bound in bounds):
            column = spark_schema.column(stored)
            row = read().agg(F.min(column), F.max(column)).first()
            bounds = [] if row is None or row[0] is None else [(row[0], row[1])]
        values = [pair[of.step > 0] for pair in bounds if pair]
        if values:
            found[name] = max(values) if of.step > 0 else min(values)
    return found


def _bounds(footer: pq.FileMetaData, stored: str) -> tuple[int, int] | tuple[()] | None:
    """The smallest and largest value of a column; nothing if all are null, None if that is not told."""
    leaves = enumerate(footer.schema.column(n) for n in range(footer.num_columns))
    # The field b of a struct a has the path of a column a.b, but lies deeper.
    at = next((n for n, leaf in leaves if leaf.path == stored and leaf.max_definition_level <= 1), None)
    if at is None:
        return ()
    low, high = [], []
    for number in range(footer.num_row_groups):
        chunk = footer.row_group(number).column(at)
        told = chunk.statistics
        if told is not None and told.has_min_max:
            low.append(told.min_raw)
            high.append(told.max_raw)
        elif told is None or not told.has_null_count or told.null_count < chunk.num_values:
            return None
    return (min(low), max(high)) if low else ()


def _field(schema: Struct, name: str) -> Field:
    found = schema.find(name)
    if found is None:
        raise LookupError(name)
    return found
