"""Tables written by others: where they are, what is known of them, and what Headgate cannot do yet.

The tables lie beside the repository and are never copied into it; without them the tests skip.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.protocol.actions import DeletionVector, Version
from headgate.protocol.log import codec

ROOT = Path(__file__).parents[3] / "shared" / "corpora"
_EXACT = Context(prec=80)
needs_corpora = pytest.mark.skipif(not ROOT.exists(), reason="the corpora are not beside the repository")

NOT_YET: Mapping[str, Mapping[str, tuple[str, ...]]] = {"replay": {}, "refusal": {}, "rows": {}}
"""What is not supported yet: by test, by missing feature, the tables that show it. Each must fail."""

REFUSED: Mapping[str, str] = {
    "dat/out/reader_tests/generated/iceberg_compat_v1/delta": "column mapping in use, not listed for readers",
    "delta_golden/canonicalized-paths-normal-a": "metaData without schemaString",
    "delta_golden/canonicalized-paths-special-a": "metaData without schemaString",
    "delta_golden/corrupted-last-checkpoint": "metaData without schemaString",
    "delta_golden/data-reader-absolute-paths-escaped-chars": "no metaData",
    "delta_golden/deltalog-commit-info": "metaData without schemaString",
    "delta_golden/deltalog-invalid-protocol-version": "reader version 99",
    "delta_golden/update-deleted-directory": "metaData without schemaString",
    "delta_golden/versions-not-contiguous": "version 1 is missing",
    "delta_kernel_res/catalog-owned-preview": "managed by a catalog, opened by path",
    "deltars_err/table_c": "version 12 is missing",
    "deltars_err/table_d": "unknown reader feature catalogOwned",
    "deltars_err/table_f": "unknown reader feature catalogOwned",
    "deltars_err/table_i": "versions 14 to 9998 are missing; unknown reader feature catalogOwned",
    "kernelrs_data/table-with-geo": "reader feature geospatial",
}
"""Tables Headgate must not read, and why; docs/reference/conformance.md says more."""

DECIDED: Mapping[str, str] = {
    "kernelrs_data/type-widening": "f2a9224f115bd375",
    "kernelrs_data/void-column": "615ae5204d091a12",
}
"""Digests of rows on which engines differ and the protocol decides; the page has the reasons."""


NOTHING_LEFT = frozenset(
    {
        "kernelrs_golden/canonicalized-paths-normal-a/delta",
        "kernelrs_golden/canonicalized-paths-special-a/delta",
    }
)
"""Tables whose only file was removed under another spelling of its path: readers keep it, Delta Lake, which
made them, does not."""


@dataclass(frozen=True, slots=True)
class Files:
    """How many files a version has, and the digest of them."""

    files: int
    digest: str | None = None  # absent where the readers differ


@dataclass(frozen=True, slots=True)
class Replay(Files):
    """What the log says at its latest version; ``err`` if two readers could make nothing of it."""

    files: int = 0
    version: int = -1
    txn: Mapping[str, int] = field(default_factory=dict)
    domains: tuple[str, ...] = ()
    err: str | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """One table and what independent readers say of it."""

    path: str
    state: str
    expected_files: bool
    rows: int | None
    digest: str | None
    replay: Replay
    versions: Mapping[str, Files | None]
    tags: tuple[str, ...]

    @property
    def location(self) -> Path:
        return ROOT / self.path

    @property
    def name(self) -> str:
        return self.path.removesuffix("/delta")

    @property
    def features(self) -> tuple[str, ...]:
        """The tags that say what the table covers."""
        return tuple(tag for tag in self.tags if not tag.startswith(("expected:", "state:")))

    def expected(self, version: int | None = None) -> Path | None:
        """The folder with the rows that the table's author expects, of a version or the latest."""
        beside = self.location.parent / "expected"
        if self.path.startswith("dat/"):
            content = beside / ("latest" if version is None else f"v{version}") / "table_content"
            return content if content.exists() else None
        return beside if self.expected_files and version is None else None


@cache
def tables() -> tuple[Corpus, ...]:
    """Every table of the manifest; none where the corpora are absent."""
    manifest = ROOT / "manifest.json"
    found = msgspec.json.decode(manifest.read_bytes(), type=tuple[Corpus, ...]) if manifest.exists() else ()
    return tuple(_emptied(table) if table.path in NOTHING_LEFT else table for table in found)


def _emptied(table: Corpus) -> Corpus:
    nothing = Files(0, _digest(()))
    left = replace(table.replay, files=nothing.files, digest=nothing.digest)
    versions = {**table.versions, str(left.version): nothing}
    return replace(table, replay=left, versions=versions if table.versions else {})


def parameters(test: str, chosen: Iterable[Corpus]) -> list[Any]:
    """The tables as parameters of ``test``; one it cannot pass yet must fail, for the feature missing."""
    missing = {path: feature for feature, paths in NOT_YET[test].items() for path in paths}
    return [
        pytest.param(
            table,
            id=table.name,
            marks=[pytest.mark.xfail(reason=f"missing: {missing[table.path]}", strict=True)]
            if table.path in missing
            else [],
        )
        for table in chosen
    ]


def file_digest(files: pa.Table) -> str:
    """The digest of live files, as the manifest defines it."""
    lines = (
        f"{path}|{_vector_id(vector)}"
        for path, vector in zip(files["path"].to_pylist(), files["deletion_vector"].to_pylist(), strict=True)
    )
    return _digest(lines)


def row_digest(table: pa.Table) -> str:
    """The digest of rows in any order, as the manifest defines it."""
    names = sorted(table.schema.names, key=str.lower)
    columns = [_values(table[name]) for name in names]
    return _digest(map(repr, zip(*columns, strict=True)))


def documents_digest(documents: Iterable[Any]) -> str:
    """The digest of rows that are JSON documents, as rows with variants are compared."""
    return _digest(msgspec.json.encode(document, order="sorted").decode() for document in documents)


def read_parquet(folder: Path) -> pa.Table:
    """The rows of every file in a folder, without a guess at partitions."""
    parts = [pq.ParquetFile(path).read() for path in sorted(folder.rglob("*.parquet"))]
    return pa.concat_tables(parts, promote_options="permissive")


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def _vector_id(vector: Mapping[str, Any] | None) -> str | None:
    if vector is None:
        return None
    offset = "" if vector["offset"] is None else f"@{vector['offset']}"
    return f"{vector['storage_type']}{vector['path_or_inline_dv']}{offset}"


def _values(column: pa.ChunkedArray) -> Iterable[Any]:
    if not pa.types.is_decimal(column.type):
        return map(_normal, column.to_pylist())
    # A million decimals have few distinct values, and normalising one is slow.
    encoded = column.combine_chunks().dictionary_encode()
    distinct = [_normal(value) for value in encoded.dictionary.to_pylist()]
    return (None if index is None else distinct[index] for index in encoded.indices.to_pylist())


def _normal(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int():
            return "i", value
        case float():
            return "f", f"{value:.7g}"
        case Decimal():
            return "dec", format(value.normalize(_EXACT), "f")
        case datetime():
            moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            return "ts", moment.isoformat()
        case date():
            return "d", value.isoformat()
        case bytes():
            return "b", value.hex()
        case dict():
            return "s", tuple((name, _normal(part)) for name, part in value.items())
        case [(_, _), *_] as pairs if all(isinstance(pair, tuple) for pair in pairs):
            return "m", tuple(sorted(((_normal(k), _normal(v)) for k, v in pairs), key=repr))
        case list():
            return "l", tuple(map(_normal, value))
        case _:
            raise TypeError(f"no digest is defined for {value!r}")


def vectors_on_disk() -> Iterator[tuple[Corpus, DeletionVector]]:
    """Every deletion vector that a published commit of the corpora adds."""
    for table in (table for table in tables() if "dv" in table.tags):
        for path in sorted((table.location / "_delta_log").glob("*.json")):
            for add in codec.decode(Version(0), path.read_bytes()).adds:
                if add.deletion_vector is not None:
                    yield table, add.deletion_vector
