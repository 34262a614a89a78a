"""What does COPY INTO do? It loads the files of a folder into a table, each of them once.

Which files were loaded is in a metadata domain of the table, set by the commit that has their rows: so there
is no moment at which a file is loaded and not remembered. Whoever loads at the same time sets the same
domain; one of the two loses, looks again at what is loaded by then, and loads the rest.
"""

import fnmatch
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.errors import ConflictError, InvalidRequest
from headgate.lake.table import Table
from headgate.protocol import property_values
from headgate.protocol.schema.types import Primitive, Struct
from headgate.spark.parquet import logical_columns
from headgate.sql.run import result_frames, table_columns
from headgate.sql.run.commands.queries import not_supported
from headgate.sql.run.statement_context import StatementContext
from headgate.sql.statements.dml import CopyInto
from headgate.sql.statements.sql_text import TableMention, TableRef

DOMAIN = "headgate.copiedFiles"
"""The metadata domain of a table that COPY INTO loads: the digests of the paths of files that it has."""
_FORMATS = ("csv", "json", "parquet", "avro", "orc", "text")
_TEXTUAL = ("csv", "json")
_ATTEMPTS = 10
_MERGE, _FORCE = "mergeschema", "force"


def copy_into(context: StatementContext, command: CopyInto) -> DataFrame:
    """COPY INTO."""
    if command.file_format.lower() not in _FORMATS:
        raise not_supported(
            f"COPY INTO … FILEFORMAT = {command.file_format}", f"there are {', '.join(_FORMATS)}"
        )
    if command.validates_only:
        raise not_supported("COPY INTO … VALIDATE", "read the files with spark.read and look at the rows")
    listed = _listed_files(context, command)
    for attempt in range(_ATTEMPTS):
        table = context.table(command.table)
        try:
            count = _load(context, table, command, listed)
        except ConflictError:  # somebody else loaded files, or changed the table
            if attempt + 1 == _ATTEMPTS:
                raise
            continue
        return result_frames.frame(context.spark, result_frames.COPIED, [(count, count, 0)])
    raise AssertionError("the last attempt returns or raises")


def _load(context: StatementContext, table: Table, command: CopyInto, listed: Sequence[str]) -> int:
    options = {key.lower(): value.lower() for key, value in command.copy_options}
    version = table.version()
    known = _loaded(table.domain(DOMAIN, version=version))
    digests = {path: _digest(path) for path in listed}
    forced = property_values.is_true(options.get(_FORCE, ""))
    new = [path for path in listed if forced or digests[path] not in known]
    if not new:
        return 0
    rows = _rows(context, table, command, new)
    remembered = msgspec.json.encode(sorted(known | {digests[path] for path in new})).decode()
    written: dict[str, Any] = {"implicit_casts": True, "domains": {DOMAIN: remembered}, "since": version}
    if property_values.is_true(options.get(_MERGE, "")):
        written["merge_schema"] = True
    made = table.append(rows, **written)
    return _inserted_rows(table, made)


def _inserted_rows(table: Table, version: int) -> int:
    for entry in table.log.history(limit=max(1, table.version() - version + 1)):
        if entry.version == version:
            return int((entry.info.operation_metrics or {}).get("numOutputRows", 0))
    return 0


def _listed_files(context: StatementContext, command: CopyInto) -> list[str]:
    """The files of the place, as Spark names them, in their order."""
    if command.files:
        base = command.location.rstrip("/")
        reader = context.spark.read.format("binaryFile")
        found = reader.load([f"{base}/{name}" for name in command.files]).select("path").collect()
        return sorted(row[0] for row in found)
    reader = context.spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    paths = [str(row[0]) for row in reader.load(command.location).select("path").collect()]
    if command.pattern is not None:
        pattern = f"*/{command.pattern.lstrip('/')}"
        paths = [path for path in paths if fnmatch.fnmatchcase(path, pattern)]
    return sorted(paths)


def _rows(context: StatementContext, table: Table, command: CopyInto, paths: Sequence[str]) -> DataFrame:
    """The rows of these files, under the names of the table's columns."""
    form, schema = command.file_format.lower(), table_columns.schema_of(table)
    options = dict(command.format_options)
    rows = context.spark.read.format(form).options(**options).load(list(paths))
    if command.query is not None:
        place = TableMention(command.place_start, command.place_end, TableRef(("copied_files",)))
        context.reads[place] = rows
        kept = [each for each in command.query.mentions if not _is_within(each, place)]
        rows = context.query(replace(command.query, mentions=(*kept, place)))
    names = command.columns
    if names is None and command.query is None and form == "csv" and not _has_header(options):
        names = tuple(field.name for field in schema.fields)[: len(rows.columns)]
    if names is not None:
        if len(names) != len(rows.columns):
            raise InvalidRequest(
                f"the files have {len(rows.columns)} columns, and {len(names)} are named: name each",
                code="DELTA_INSERT_COLUMN_ARITY_MISMATCH",
            )
        rows = rows.toDF(*names)
    return _cast(rows, schema) if form in _TEXTUAL else rows


def _cast(rows: DataFrame, schema: Struct) -> DataFrame:
    """Columns of files that are text, in the types of the table."""
    columns = []
    for name in rows.columns:
        field, column = schema.find(name), F.col(table_columns.quoted(name))
        plain = field is not None and isinstance(field.type, Primitive)
        columns.append(
            column.cast(logical_columns.spark_type(field.type)).alias(name) if field and plain else column
        )
    return rows.select(*columns)


def _has_header(options: dict[str, str]) -> bool:
    return any(key.lower() == "header" and property_values.is_true(value) for key, value in options.items())


def _is_within(mention: TableMention, place: TableMention) -> bool:
    return mention.start >= place.start and mention.end <= place.end


def _loaded(configuration: str | None) -> frozenset[str]:
    return frozenset(msgspec.json.decode(configuration, type=list[str])) if configuration else frozenset()


def _digest(path: str) -> str:
    return hashlib.blake2b(path.encode(), digest_size=10).hexdigest()
