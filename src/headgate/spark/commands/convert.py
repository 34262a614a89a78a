"""Making a folder of parquet files a Delta table, in place: version 0 names the files that are there.

No file is written anew. The columns are those of all files together, the partition columns those of the
folders they are in, and the statistics come from the footers.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote

import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from headgate.catalog.ports.coordinator import FindCoordinator
from headgate.clock import World
from headgate.errors import CorruptLog, InvalidRequest, SchemaMismatch, TableNotFound
from headgate.progress import reporting
from headgate.protocol.actions import AddFile, EpochMillis
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema import partition_values
from headgate.protocol.schema.types import (
    Array,
    DataType,
    Field,
    Map,
    Primitive,
    Struct,
    as_nullable,
    describe_type,
)
from headgate.spark.parquet import file_schema, footers
from headgate.spark.session import new_table, schema
from headgate.storage import location_spelling
from headgate.storage.fsync import sync_files
from headgate.storage.store import ObjectMeta, Store
from headgate.table.alter import coordination, create
from headgate.table.alter.create import InitialRows
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.transaction import Operation

_NULL = "__HIVE_DEFAULT_PARTITION__"
_OTHER_FORMATS = {
    "_spark_metadata/": "a folder that a Spark stream writes to, whose own log says which files count",
    ".hoodie/": "a Hudi table",
}
_TIMESTAMP_TYPES = (Primitive("timestamp"), Primitive("timestamp_ntz"))
_READERS = 8
_WIDTHS = ("byte", "short", "integer")
"""Types that parquet keeps alike, so that files of the one can be read as the other."""


@dataclass(frozen=True, slots=True)
class _ParquetFile:
    """A file of the folder."""

    item: ObjectMeta
    folders: tuple[tuple[str, str], ...]
    """The partition columns and values that the names of its folders tell."""
    columns: Struct
    rows: int
    stats: str


def convert(
    place: str,
    store: Store,
    partition_schema: DataFrame | StructType | str | None,
    *,
    world: World,
    find: FindCoordinator | None = None,
) -> bool:
    """Make the folder a Delta table; False if it is one.

    ``partition_schema`` gives the partition columns types, which are text otherwise. The session's defaults
    may name a coordinator, to be had from ``find``; without that the table is not given to any.
    """
    if _is_table(store):
        return False
    given = None if partition_schema is None else as_nullable(schema.table_schema(partition_schema))
    found = _files(store, place)
    columns = _merge_schemas(found)
    partitioned = _partition_columns(found, columns, given)
    adds = tuple(_add_action(file, partitioned) for file in found)
    sync_files(place, (file.item.path for file in found))
    names = tuple(field.name for field in partitioned)
    definition = new_table.define(Struct((*columns.fields, *partitioned)), partition_by=names)
    if find is None:
        opening = create.initial_state(definition, managed=False, world=world)
    else:
        opening = coordination.initial_state_by_path(definition, place, store, find, world)
    create.write_first_commit(
        store,
        create.first_commit_content(opening, InitialRows(_operation(found, names), adds), world=world),
        managed=False,
    )
    return True


def _is_table(store: Store) -> bool:
    try:
        FilesystemCommitter(store).frontier()
    except TableNotFound:
        return False
    return True


def _files(store: Store, place: str) -> Sequence[_ParquetFile]:
    listed = list(store.list_from(""))
    for folder, what in _OTHER_FORMATS.items():
        if any(item.path.startswith(folder) for item in listed):
            raise InvalidRequest(f"{place!r} is {what}: it cannot be converted by looking at its files")
    wanted = [item for item in listed if not _is_hidden(item.path)]
    if not wanted:
        raise InvalidRequest(
            f"there is no parquet file in {place!r}, so nothing says what columns the table would have",
            code="DELTA_CONVERT_TO_DELTA_NO_FILES",
        )
    with ThreadPoolExecutor(_READERS) as pool:
        reading = pool.map(lambda item: footers.read(store, item.path), wanted)
        with reporting.tracked("read footers", reading, len(wanted)) as found:
            read = list(found)
    foreign = [item.path for item, footer in zip(wanted, read, strict=True) if footer is None]
    if foreign:
        raise InvalidRequest(
            f"{len(foreign)} of the {len(wanted)} files in {place!r} are no whole parquet files, "
            f"{foreign[0]!r} is one of them: move them elsewhere, or give them a name that begins with _",
            code="DELTA_CONVERT_NON_PARQUET_TABLE",
        )
    return [
        _parquet_file(item, footer) for item, footer in zip(wanted, read, strict=True) if footer is not None
    ]


def _is_hidden(path: str) -> bool:
    """Whether a file, or a folder it is in, is not for readers; a partition column may begin with _."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in path.split("/"))


def _parquet_file(item: ObjectMeta, footer: pq.FileMetaData) -> _ParquetFile:
    folders = (part.partition("=") for part in item.path.split("/")[:-1] if "=" in part)
    return _ParquetFile(
        item,
        tuple((unquote(name), value) for name, _, value in folders),
        file_schema.footer_schema(footer, item.path),
        footer.num_rows,
        footers.render_stats(footer, file_schema.footer_schema_with_bounds(footer, item.path)),
    )


def _merge_schemas(found: Sequence[_ParquetFile]) -> Struct:
    """The columns of all files, in the order in which the first files have them."""
    different = {schema_json.render(file.columns): file for file in reversed(found)}
    first, *others = sorted(different.values(), key=lambda file: file.item.path)
    merged = first.columns
    for file in others:
        merged = _merge_structs(merged, file.columns, file.item.path)
    return merged


def _merge_structs(ours: Struct, theirs: Struct, path: str, where: str = "") -> Struct:
    fields = {field.name: field for field in ours.fields}
    for field in theirs.fields:
        known = ours.find(field.name)
        if known is not None and known.name != field.name:
            raise SchemaMismatch(
                f"the column {where}{field.name!r} of {path!r} is called {known.name!r} in other files, and "
                "names of columns are compared ignoring case: write it anew with one name",
                code="DELTA_FAILED_TO_MERGE_FIELDS",
            )
        fields[field.name] = field if known is None else _merge_fields(known, field, path, where)
    return Struct(tuple(fields.values()))


def _merge_fields(ours: Field, theirs: Field, path: str, where: str) -> Field:
    name = f"{where}{ours.name}"
    merged = _merge_types(ours.type, theirs.type, path, f"{name}.")
    if merged is None:
        raise SchemaMismatch(
            f"the column {name!r} is {describe_type(theirs.type)} in {path!r} and {describe_type(ours.type)} "
            "in other files, which is not the same to all clients: write these files anew with one type",
            code="DELTA_FAILED_TO_MERGE_FIELDS",
        )
    return Field(ours.name, merged)


def _merge_types(ours: DataType, theirs: DataType, path: str, where: str) -> DataType | None:
    """A type that both can be read as; None if there is none that is safe."""
    match ours, theirs:
        case Struct(), Struct():
            return _merge_structs(ours, theirs, path, where)
        case Array(one), Array(other):
            element = _merge_types(one, other, path, f"{where}element.")
            return None if element is None else Array(element, contains_null=True)
        case Map(key, value), Map(other_key, other_value):
            both = _merge_types(key, other_key, path, where), _merge_types(value, other_value, path, where)
            return None if None in both else _map(*both)
        case Primitive(one), Primitive(other) if one in _WIDTHS and other in _WIDTHS:
            return max(ours, theirs, key=lambda found: _WIDTHS.index(found.name))
        case _:
            return ours if ours == theirs else None


def _map(key: DataType | None, value: DataType | None) -> Map | None:
    return None if key is None or value is None else Map(key, value, value_contains_null=True)


def _partition_columns(
    found: Sequence[_ParquetFile], columns: Struct, given: Struct | None
) -> tuple[Field, ...]:
    """The columns that the folders tell, with the types that were given."""
    names = [name for name, _ in found[0].folders]
    for file in found:
        if [name for name, _ in file.folders] != names:
            raise InvalidRequest(
                f"{found[0].item.path!r} and {file.item.path!r} are not in folders of the same partition "
                "columns: move the files so that all of them are",
                code="DELTA_CONVERSION_NO_PARTITION_FOUND",
            )
    both = [name for name in names if columns.find(name) is not None]
    if both:
        raise InvalidRequest(
            f"the column {both[0]!r} is in the names of folders and in the files too, where it may differ: "
            "rename one of them",
            code="DELTA_DUPLICATE_COLUMNS_FOUND",
        )
    if given is None:
        return tuple(Field(name, Primitive("string")) for name in names)
    if [field.name for field in given.fields] != names:
        raise InvalidRequest(
            f"the folders are by the columns {names}, and the partition_schema has "
            f"{[field.name for field in given.fields]}: give it these columns, in this order",
            code="DELTA_UNEXPECTED_PARTITION_SCHEMA_FROM_USER",
        )
    return given.fields


def _add_action(file: _ParquetFile, partitioned: Iterable[Field]) -> AddFile:
    texts = dict(file.folders)
    return AddFile(
        path=location_spelling.relative_log_path(file.item.path),
        partition_values={
            field.name: _partition_value(texts[field.name], field, file) for field in partitioned
        },
        size=file.item.size,
        modification_time=EpochMillis(file.item.modified_ms),
        data_change=True,
        stats=file.stats,
    )


def _partition_value(text: str, field: Field, file: _ParquetFile) -> str | None:
    value = None if text in ("", _NULL) else unquote(text)
    try:
        canonical = partition_values.canonical_text(value, field.type)
        if canonical is None or field.type not in _TIMESTAMP_TYPES:
            return canonical
        moment = datetime.fromisoformat(canonical.removesuffix("Z")).isoformat(timespec="microseconds")
        return f"{moment}Z" if canonical.endswith("Z") else moment.replace("T", " ")
    except CorruptLog as exc:
        raise InvalidRequest(
            f"{file.item.path!r} is in a folder for {field.name} = {value!r}, which is no "
            f"{describe_type(field.type)}: give partition_schema another type",
            code="DELTA_PARTITION_COLUMN_CAST_FAILED",
        ) from exc


def _operation(found: Sequence[_ParquetFile], partitioned: Sequence[str]) -> Operation:
    parameters: Mapping[str, str] = {
        "numFiles": str(len(found)),
        "partitionedBy": "[" + ",".join(f'"{name}"' for name in partitioned) + "]",
        "collectStats": "true",
        "sourceFormat": "parquet",
    }
    return Operation("CONVERT", parameters, {"numConvertedFiles": str(len(found))})
