"""``headgate table show``: one table in full."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from headgate.cli import console, folder
from headgate.cli.answers.tables import TableDetail
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace, TableArgument, number_option

if TYPE_CHECKING:
    from headgate.cli import summaries
    from headgate.cli.table import preview
    from headgate.lake.table import Table
else:
    summaries = deferred_module("headgate.cli.summaries")
    preview = deferred_module("headgate.cli.table.preview")


def show(
    table: TableArgument,
    lake: LakePlace = None,
    rows: Annotated[int, number_option("--rows", min=0, help="Also show the first N rows.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Show a table's columns, size, properties and place."""
    with folder.open_lake(lake) as opened:
        detail = summaries.describe_table(opened, table)
        if rows:
            detail = msgspec.structs.replace(detail, sample=_sample(opened.lake.table(table), rows))
    if as_json:
        console.show_json(detail)
    else:
        _print_detail(detail)


def _sample(table: "Table", rows: int) -> tuple[msgspec.Raw, ...]:
    """The first rows, each as JSON, read in this process."""
    return tuple(msgspec.Raw(row) for row in preview.first_rows(table, rows))


def _print_detail(detail: TableDetail) -> None:
    out, table = console.out(), detail.table
    console.show_pairs(out, _facts(detail))
    out.print()
    console.show_table(
        out,
        (
            OutputColumn("column", style="bold"),
            OutputColumn("type"),
            OutputColumn("null"),
            OutputColumn("comment"),
        ),
        [
            (column.name, column.type, "yes" if column.nullable else "no", column.comment or "")
            for column in detail.columns
        ],
    )
    if detail.sample is not None:
        out.print()
        print_rows(detail.sample, [column.name for column in detail.columns])
        out.print(f"{len(detail.sample)} of {console.format_count(table.num_rows)} rows")


def _facts(detail: TableDetail) -> dict[str, str]:
    table, held = detail.table, detail.table.catalog
    facts = {
        "table": table.name,
        "description": detail.description or "",
        "version": f"{table.version}, committed {(table.last_modified or '').replace('T', ' ')}",
        "rows": console.format_count(table.num_rows),
        "files": f"{console.format_count(table.num_files)}, {console.format_size(table.size_in_bytes)}",
        "published": f"up to version {held.published}; the catalog holds {held.inline} inline "
        f"and {console.format_plural(held.staged, 'staged commit')}",
        "protocol": f"reader {detail.min_reader_version}, writer {detail.min_writer_version}",
        "features": ", ".join(detail.table_features),
        "properties": ", ".join(f"{key}={value}" for key, value in detail.properties.items()),
        "domains": ", ".join(f"{name}={configuration}" for name, configuration in detail.domains.items()),
        "partitioned by": ", ".join(detail.partition_columns),
        "created": detail.created_at.replace("T", " "),
        "id": table.id,
        "location": table.location,
    }
    return {key: value for key, value in facts.items() if value}


def print_rows(sample: Sequence[msgspec.Raw], names: Sequence[str]) -> None:
    """Rows, each an object, under the names of their columns."""
    decoder = msgspec.json.Decoder(float_hook=str)  # decimals keep the digits they have
    rows = [decoder.decode(row) for row in sample]
    console.show_table(
        console.out(),
        [OutputColumn(name) for name in names],
        [[_cell(row.get(name)) for name in names] for row in rows],
    )


def _cell(value: object) -> str:
    if value is None:
        return "null"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
