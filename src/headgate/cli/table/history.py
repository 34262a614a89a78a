"""``headgate table history``: what happened to a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from headgate.cli import console, folder
from headgate.cli.answers.tables import VersionSummary
from headgate.cli.console import OutputColumn
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace, TableArgument, number_option
from headgate.protocol.stats import operation_metrics
from headgate.protocol.stats.operation_metrics import FILE_METRICS, ROW_METRICS, MetricCount

if TYPE_CHECKING:
    from headgate.cli import summaries
else:
    summaries = deferred_module("headgate.cli.summaries")

_COLUMNS = (
    OutputColumn("version", right=True, style="bold"),
    OutputColumn("timestamp", is_whole=True),
    OutputColumn("operation"),
    OutputColumn("rows", right=True),
    OutputColumn("files", right=True),
    OutputColumn("commit"),
)


def history(
    table: TableArgument,
    lake: LakePlace = None,
    limit: Annotated[int | None, number_option("--limit", "-n", min=1, help="Only the newest N.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened to a table, newest first."""
    with folder.open_lake(lake) as opened:
        versions = summaries.summarize_history(opened, table, limit=limit)
    if as_json:
        console.show_json(versions)
    else:
        print_versions(console.out(), versions)


def print_versions(out: Console, versions: Sequence[VersionSummary], *, indent: int = 0) -> None:
    """The versions, a line each."""
    console.show_table(out, _COLUMNS, [_line(version) for version in versions], indent=indent)


def _line(version: VersionSummary) -> tuple[str, ...]:
    mode = version.operation_parameters.get("mode")
    operation = version.operation or "–"
    return (
        str(version.version),
        version.timestamp.replace("T", " "),
        f"{operation} ({mode})" if mode else operation,
        _counts_text(operation_metrics.metric_counts(version.operation_metrics, ROW_METRICS)),
        _counts_text(operation_metrics.metric_counts(version.operation_metrics, FILE_METRICS)),
        version.commit,
    )


def _counts_text(counts: Sequence[MetricCount]) -> str:
    """What was written or added as a number, everything else in words."""
    match counts:
        case ():
            return "–"
        case (MetricCount("written" | "added", number),):
            return console.format_count(number)
        case _:
            return ", ".join(f"{console.format_count(each.number)} {each.verb}" for each in counts)
