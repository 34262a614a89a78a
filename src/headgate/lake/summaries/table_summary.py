"""What does a notebook show of a table? Its version, columns, layout, properties and size, from the log."""

import pyarrow.compute as pc

from headgate.calls import summary
from headgate.calls.summary import Grid, Summary
from headgate.protocol.actions import Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering
from headgate.protocol.metadata import type_ddl
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field
from headgate.protocol.stats import file_stats
from headgate.table.opened_table import OpenedTable
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot

_MOST_COUNTED = 10_000
"""Of so many files the rows are counted by their statistics; of more it takes too long for a look."""


def summarize_table(name: str, table: OpenedTable) -> Summary:
    """The table as it is now."""
    found = table.snapshot()
    metadata, domains = found.state.metadata, found.state.domains
    columns = clustering.logical_names(lifecycle.clustering_columns(domains), metadata)
    own = {name: said.configuration for name, said in domains.items() if not said.is_system}
    return Summary(
        f"Table {name}",
        (
            ("version", str(found.version)),
            ("description", metadata.description or ""),
            *_size_facts(found),
            ("partitioned by", ", ".join(metadata.partition_columns)),
            ("clustered by", ", ".join(columns)),
            ("properties", summary.pairs_text(metadata.configuration)),
            ("domains", summary.pairs_text(own)),
            ("location", table.location),
        ),
        (_column_grid(metadata),),
    )


def _size_facts(found: Snapshot) -> tuple[tuple[str, str], ...]:
    files = found.files.without_stats
    size = pc.sum(files["size"]).as_py() or 0
    rows = _count_rows(found.files) if files.num_rows <= _MOST_COUNTED else None
    return (
        ("rows", "" if rows is None else f"{rows:,}"),
        ("files", f"{files.num_rows:,}, {summary.size_text(size)}"),
    )


def _count_rows(files: LiveFiles) -> int | None:
    """How many rows there are by the statistics, if every file has them."""
    total = 0
    columns = files.columns
    vectors = columns["deletion_vector"].to_pylist()
    for stats, vector in zip(columns["stats"].to_pylist(), vectors, strict=True):
        counted = file_stats.row_count(stats)
        if counted is None:
            return None
        total += counted - (vector["cardinality"] if vector else 0)
    return total


def _column_grid(metadata: Metadata) -> Grid:
    fields = schema_json.parse(metadata.schema_string).fields
    return Grid("columns", ("name", "type", "null", "comment"), tuple(map(_column_row, fields)))


def _column_row(field: Field) -> tuple[str, ...]:
    comment = field.metadata.get("comment") or ""
    return (field.name, type_ddl.sql_text(field.type), "yes" if field.nullable else "no", str(comment))
