"""Which options does a write have? One row each: our name, Delta's, values, default, and who takes it.

``df.write.option("maxRecordsPerFile", "1000")`` and ``table.append(df, max_records_per_file=1000)`` ask for
the same; the row ``max_records_per_file`` says so. Keyword arguments, the options of a data source, streams
and the reference page come from these rows.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.spelling import did_you_mean

STATIC, DYNAMIC = "static", "dynamic"
"""How a partition overwrite finds the partitions it replaces: all there are, or those that get rows."""


class WriteKind(Enum):
    """The calls that take options."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    CREATE = "create"
    """A write that makes the table."""
    REPLACE = "replace"
    STREAM = "stream"
    CHANGE = "delete, update, merge"


@dataclass(frozen=True, slots=True)
class OptionKind:
    """What the values of an option look like, and how each of its names is read from text."""

    what: str
    reads: tuple[Callable[[str, str], object], ...]


def _text(_: str, text: str) -> str:
    return text


def _word(_: str, text: str) -> str:
    return text.lower()


def _flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise InvalidRequest(f"the option {name} is true or false, not {text!r}: correct it")
    return property_values.is_true(text)


def _number(name: str, text: str) -> int:
    if not text.lstrip("-").isdecimal():
        raise InvalidRequest(f"the option {name} is a whole number, not {text!r}: correct it")
    return int(text)


def _names(_: str, text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


FLAG = OptionKind("`True` or `False`", (_flag,))
COUNT = OptionKind("a whole number from 1", (_number,))
VERSION = OptionKind("a version of the table", (_number,))
TEXT = OptionKind("text", (_text,))
CONDITION = OptionKind("a condition in SQL, or a Column", (_text,))
SQL = OptionKind("a condition in SQL", (_text,))
COLUMNS = OptionKind("names of columns", (_names,))
OVERWRITE_MODE = OptionKind(f"`{STATIC}` or `{DYNAMIC}`", (_word,))
BATCH = OptionKind("`(application, number)`", (_text, _number))
DOMAINS = OptionKind("names of domains, and a text for each", ())
INTERVAL = OptionKind("an interval, such as `10 seconds`", (_text,))


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One row."""

    name: str
    """The keyword argument."""
    delta: tuple[str, ...]
    """What Delta calls it, ignoring case: two names if it takes two; none if Delta does not have it."""
    kind: OptionKind
    taken_by: frozenset[WriteKind]
    means: str
    default: Any = None
    """Of the option's type; None if what then holds is decided elsewhere."""

    def argument(self, value: object) -> str:
        """The keyword argument that asks for a value, as a user writes it."""
        return f"{self.name}={value!r}"


_APPEND, _OVERWRITE, _CREATE, _REPLACE, _STREAM, _CHANGE = WriteKind
_REPLACING = frozenset({_OVERWRITE})
_BATCHES = frozenset({_STREAM})
_WRITES = frozenset({_APPEND, _OVERWRITE, _CREATE})
_FILES = _WRITES | {_REPLACE, _STREAM}

OPTIONS: tuple[OptionRow, ...] = (
    OptionRow(
        "merge_schema", ("mergeSchema",), FLAG, _WRITES | _BATCHES,
        "adds the columns that the table does not have; unless it is given the session's "
        "`spark.databricks.delta.schema.autoMerge.enabled` decides",
    ),
    OptionRow(
        "overwrite_schema", ("overwriteSchema",), FLAG, _REPLACING | _BATCHES,
        "makes columns and partitioning those of the write; a stream does with the mode complete",
        default=False,
    ),
    OptionRow(
        "replace_where", ("replaceWhere",), CONDITION, _REPLACING | {_CREATE},
        "replaces the rows that the condition selects, which new ones must meet too",
    ),
    OptionRow(
        "replace_using", ("replaceUsing",), COLUMNS, _REPLACING,
        "replaces the rows that have the same values in these columns as a new one",
        default=(),
    ),
    OptionRow(
        "replace_on", ("replaceOn",), SQL, _REPLACING,
        "replaces the rows that match a new one by this condition on both",
    ),
    OptionRow(
        "partition_overwrite", ("partitionOverwriteMode",), OVERWRITE_MODE, _REPLACING,
        "`dynamic` replaces only the partitions that get rows",
        default=STATIC,
    ),
    OptionRow(
        "keep_null_partitions", ("useNullIntolerantEqualityWithDPO",), FLAG, _REPLACING,
        "has a dynamic overwrite leave partitions alone that have a null",
        default=False,
    ),
    OptionRow(
        "partition_by", (), COLUMNS, _FILES,
        "the columns that a new table, or one whose schema is overwritten, is partitioned by; any other "
        "table must have them already",
        default=(),
    ),
    OptionRow(
        "cluster_by", (), COLUMNS, _FILES,
        "the columns that a new table, or one whose schema is overwritten, is clustered by; any other "
        "table must have them already",
    ),
    OptionRow(
        "user_metadata", ("userMetadata",), TEXT, _FILES,
        "what the history says of the commit; unless it is given the session's "
        "`spark.databricks.delta.commitInfo.userMetadata`",
    ),
    OptionRow(
        "txn", ("txnAppId", "txnVersion"), BATCH, _WRITES,
        "writes the batch of this number of an application once, however often it is asked for",
    ),
    OptionRow(
        "max_records_per_file", ("maxRecordsPerFile",), COUNT, _FILES,
        "how many rows a file has at most; unless it is given Spark decides",
    ),
    OptionRow(
        "compression", ("compression",), TEXT, _FILES,
        "how parquet is compressed; unless it is given as the session says",
    ),
    OptionRow(
        "data_change", ("dataChange",), FLAG, frozenset({_APPEND, _OVERWRITE}),
        "`False` says that the write only arranges rows anew, so that streams of the table pass it over",
        default=True,
    ),
    OptionRow(
        "optimize_write", ("optimizeWrite",), FLAG, _FILES,
        "brings the rows of each partition together, for fewer and larger files; so does the table's "
        "property `delta.autoOptimize.optimizeWrite`",
        default=False,
    ),
    OptionRow(
        "implicit_casts", (), FLAG, _WRITES,
        "casts values to the types of the table as an INSERT does; a stream always does",
        default=False,
    ),
    OptionRow(
        "domains", (), DOMAINS, _FILES | {_CHANGE},
        "the metadata domains that the same commit sets; for a stream also a function of a batch and its "
        "number",
        default=MappingProxyType({}),
    ),
    OptionRow(
        "since", (), VERSION, frozenset({_APPEND, _OVERWRITE, _REPLACE, _CHANGE}),
        "the version from which `domains` were decided: whoever set them after it is a rival",
    ),
    OptionRow(
        "app_id", (), TEXT, _BATCHES,
        "by what name the table remembers the batches; unless it is given the id of the query",
    ),
    OptionRow("query_name", (), TEXT, _BATCHES, "what Spark calls the query"),
    OptionRow("processing_time", (), INTERVAL, _BATCHES, "how often the query looks for rows"),
    OptionRow("available_now", (), FLAG, _BATCHES, "ends the query once it has caught up", default=False),
)  # fmt: skip
_BY_NAME = {row.name: row for row in OPTIONS}


def option_row(name: str) -> OptionRow:
    """The row of an option by our name."""
    return _BY_NAME[name]


def options_for(*kinds: WriteKind) -> tuple[OptionRow, ...]:
    """The options that one of these calls takes."""
    return tuple(row for row in OPTIONS if row.taken_by & set(kinds))


def overwrite_only_options() -> tuple[OptionRow, ...]:
    """The options that mean nothing to an append, because they say what is replaced."""
    return tuple(row for row in options_for(WriteKind.OVERWRITE) if WriteKind.APPEND not in row.taken_by)


def parse(options: Mapping[str, str], *kinds: WriteKind, besides: Collection[str] = ()) -> dict[str, Any]:
    """The keyword arguments that options by Delta's names, in any case, stand for.

    Refused are names that none of these calls knows, but for those that the caller looks at itself, such as
    ``path`` (``besides``).
    """
    rows = [row for row in options_for(*kinds) if row.delta]
    given = {name.lower(): text for name, text in options.items()}
    known = {name.lower(): name for row in rows for name in row.delta}
    for name in options:
        if name.lower() not in known and name.lower() not in {each.lower() for each in besides}:
            raise _unknown(name, [*known.values(), *besides])
    return {row.name: _value(row, given) for row in rows if any(name.lower() in given for name in row.delta)}


def _unknown(name: str, known: Collection[str]) -> InvalidRequest:
    return InvalidRequest(
        f"there is no option {name!r} of a write:{did_you_mean(name, known)} there are "
        f"{', '.join(sorted(known))}"
    )


def _value(row: OptionRow, given: Mapping[str, str]) -> object:
    if any(name.lower() not in given for name in row.delta):
        raise InvalidRequest(f"{' and '.join(row.delta)} belong together: give both, or neither")
    values = tuple(
        read(name, given[name.lower()]) for name, read in zip(row.delta, row.kind.reads, strict=True)
    )
    return values if len(values) > 1 else values[0]
