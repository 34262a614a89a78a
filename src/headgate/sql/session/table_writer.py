"""What does ``df.writeTo("sales.orders")`` give, if the table is a lake's? The same methods as Spark's."""

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol.schema import column_path
from headgate.spark.calls.user_calls import user_calls
from headgate.spark.data_files import option_rows
from headgate.spark.data_files.option_rows import WriteKind
from headgate.spark.predicates import from_column
from headgate.sql.run import saved_rows
from headgate.sql.run.name_scope import Found, NameScope
from headgate.sql.run.saved_rows import NewRows

_WRITES = (WriteKind.APPEND, WriteKind.OVERWRITE, WriteKind.CREATE)
FORMATS = ("delta", "headgate")


@user_calls
@dataclass(slots=True)
class LakeTableWriter:
    """Writes rows to a table of a lake; each of the first methods gives the writer itself, as Spark's do."""

    df: DataFrame
    scope: NameScope
    found: Found
    asked: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    layout: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def using(self, provider: str) -> "LakeTableWriter":
        """The format, which is Delta's."""
        check_format(provider)
        return self

    def option(self, key: str, value: Any) -> "LakeTableWriter":
        """Set an option of the write, by Delta's name."""
        return self.options(**{key: value})

    def options(self, **options: Any) -> "LakeTableWriter":
        """Set options of the write, by Delta's names."""
        texts = {
            key: str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in options.items()
        }
        self.asked.update(texts)
        return self

    def tableProperty(self, property: str, value: str) -> "LakeTableWriter":  # noqa: A002, N802 — Spark's
        """Give a new table a property."""
        self.properties[property] = value
        return self

    def partitionedBy(self, col: Column | str, *cols: Column | str) -> "LakeTableWriter":  # noqa: N802
        """Partition a new table by these columns."""
        self.layout["partition_by"] = tuple(map(_column_name, (col, *cols)))
        return self

    def clusterBy(self, col: str, *cols: str) -> "LakeTableWriter":  # noqa: N802
        """Cluster a new table by these columns."""
        self.layout["cluster_by"] = (col, *cols)
        return self

    def create(self) -> None:
        """Make the table, which must not be there."""
        saved_rows.save(self.scope, self.found, "error", self._rows())

    def replace(self) -> None:
        """Put a table with these rows in place of the one that is there."""
        saved_rows.replace(self.scope, self.found, self._rows(), or_create=False)

    def createOrReplace(self) -> None:  # noqa: N802
        """Make the table, or put one with these rows in its place."""
        saved_rows.replace(self.scope, self.found, self._rows(), or_create=True)

    def append(self) -> None:
        """Add the rows, column by column of the same name."""
        self.scope.table(self.found).append(self.df, implicit_casts=True, **self._options())

    def overwrite(self, condition: Column | str) -> None:
        """Replace the rows for which a condition is true."""
        chosen = F.col(condition) if isinstance(condition, str) else condition
        table = self.scope.table(self.found)
        table.overwrite(self.df, implicit_casts=True, replace_where=chosen, **self._options())

    def overwritePartitions(self) -> None:  # noqa: N802
        """Replace the partitions that get rows."""
        table = self.scope.table(self.found)
        table.overwrite(self.df, implicit_casts=True, partition_overwrite="dynamic", **self._options())

    def _options(self) -> dict[str, Any]:
        return option_rows.parse(self.asked, *_WRITES)

    def _rows(self) -> NewRows:
        return NewRows(self.df, properties=self.properties, options={**self._options(), **self.layout})


def check_format(name: str) -> None:
    """Refuse another format than a lake's tables have."""
    if name.lower() not in FORMATS:
        raise InvalidRequest(
            f"tables of a lake are Delta tables, not {name}: leave the format out, or say delta",
            code="DELTA_UNSUPPORTED_SOURCE",
        )


def _column_name(column: Column | str) -> str:
    text = column if isinstance(column, str) else from_column.to_sql(column)
    path = column_path.parse_path(text) if text and "(" not in text else ()
    if len(path) != 1:
        raise InvalidRequest(
            f"a table is partitioned by columns, and {text} is none: make it a column, if need be GENERATED "
            "ALWAYS AS (…)",
            code="DELTA_OPERATION_NOT_ALLOWED",
        )
    return path[0]
