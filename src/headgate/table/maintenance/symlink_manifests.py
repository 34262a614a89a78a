"""Lists of a table's files for engines that cannot read its log: ``GENERATE symlink_format_manifest``.

A list for each partition, in folders as Hive names them, or one for the whole table. Such an engine takes
every row of every file that is listed, under the names that columns have in the files; so tables where that
is not what their rows are get none. Each list is replaced as a whole, the lists of a table one by one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Version
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.storage import parallel_reads
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths
from headgate.table.read.snapshot import Snapshot

SYMLINKS = "symlink_format_manifest"
_FOLDER, _FILE = f"_{SYMLINKS}/", "manifest"
_NULL = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")


@dataclass(frozen=True, slots=True)
class GeneratedManifests:
    """The version whose files are listed, and where the lists are, by their paths in the table."""

    version: Version
    manifests: tuple[str, ...]


def generate_manifests(table: OpenedTable, mode: str) -> GeneratedManifests:
    """Write the lists of the latest version, and delete those of partitions that are no more."""
    if mode.lower() != SYMLINKS:
        raise InvalidRequest(
            f"{mode!r} is nothing that can be generated: say {SYMLINKS!r}",
            code="DELTA_MODE_NOT_SUPPORTED",
        )
    table.check_permitted(Maintenance.MANIFESTS, "GENERATE")
    table.publish()  # what is provisional, in a transaction, is no business of others
    base = table.snapshot()
    _check_supported(base)
    lists = _manifest_contents(base, table.location)
    store = table.store
    for _ in parallel_reads.map_in_order(store, lambda path: store.put(path, lists[path]), lists):
        pass
    for meta in list(store.list_from(_FOLDER)):
        if meta.path.rpartition("/")[2] == _FILE and meta.path not in lists:
            store.delete(meta.path)
    return GeneratedManifests(base.version, tuple(sorted(lists)))


def _check_supported(base: Snapshot) -> None:
    if column_mapping.mapping_mode(base.state.metadata) is not ColumnMappingMode.NONE:
        raise InvalidRequest(
            "the table maps its columns, so that they have other names in its files, under which engines "
            "that read a list of files would not find them: no list is written",
            code="DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING",
        )
    vectors = base.files.without_stats["deletion_vector"]
    if vectors.null_count != len(vectors):
        raise InvalidRequest(
            f"{len(vectors) - vectors.null_count} files of the table have deleted rows in them, of which an "
            "engine that reads a list of files does not know: rewrite them with table.purge(), and set "
            "delta.enableDeletionVectors to false to have no more of them",
            code="DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS",
        )


def _manifest_contents(base: Snapshot, location: str) -> dict[str, bytes]:
    """The contents of the lists, by path."""
    columns = base.state.metadata.partition_columns
    files = base.files.without_stats
    found: dict[str, list[str]] = {} if columns else {f"{_FOLDER}{_FILE}": []}
    for path, values in zip(files["path"].to_pylist(), files["partition_values"].to_pylist(), strict=True):
        folder = _partition_folder(columns, dict(values))
        found.setdefault(f"{_FOLDER}{folder}{_FILE}", []).append(
            unquote(file_paths.object_uri(location, path))
        )
    return {path: "".join(f"{line}\n" for line in sorted(lines)).encode() for path, lines in found.items()}


def _partition_folder(columns: tuple[str, ...], values: Mapping[str, str | None]) -> str:
    return "".join(f"{_escaped(column)}={_escaped(values[column] or _NULL)}/" for column in columns)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)
