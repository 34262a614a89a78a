"""``headgate check``: whether tables are whole, what is wrong with them, and repairing what can be."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from headgate.cli import console, folder
from headgate.cli.deferred import deferred_module
from headgate.cli.options import AsJson, LakePlace, OptionalTable
from headgate.cli.visible_text import visible_line, visible_lines
from headgate.errors import InvalidRequest
from headgate.protocol.integrity_findings import Finding, Severity

if TYPE_CHECKING:
    from headgate.lake import path_table
    from headgate.table.integrity.check import IntegrityReport
else:
    path_table = deferred_module("headgate.lake.path_table")

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold"}


def check_tables(
    table: OptionalTable = None,
    lake: LakePlace = None,
    path: Annotated[
        str | None, typer.Option("--path", metavar="PATH", help="A Delta table by its path, without a lake.")
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Write anew what can be derived from the rest.")
    ] = False,
    data: Annotated[
        bool, typer.Option("--data/--no-data", help="Also look for data files and deletion vectors.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Check that tables are whole: log, catalog, checkpoints, checksums, data files.

    Ends with status 1 if there is an error or a warning; notes are no reason to worry.
    """
    if path is not None and table is not None:
        raise InvalidRequest("check a table of a lake or one by its path, not both: leave one out")
    place = ""
    if path is not None:
        reports: tuple[IntegrityReport, ...] = (path_table.check_path(path, repair=repair, data=data),)
    else:
        with folder.open_lake(lake) as opened:
            reports, place = opened.lake.check(table, repair=repair, data=data), opened.place
    if as_json:
        console.show_json(reports)
    else:
        print_reports(console.out(), reports)
        if not reports:
            console.say(f"no tables in {place}, so nothing to check")
    if not all(report.is_clean for report in reports):
        raise typer.Exit(1)


def print_reports(out: Console, reports: Iterable["IntegrityReport"]) -> None:
    """A line for each table, and below it what was found."""
    named = [(visible_line(report.table), report) for report in reports]
    width = max((len(name) for name, _ in named), default=0)
    for name, report in named:
        out.print(Text.assemble((name.ljust(width), "bold"), f"  {_verdict(report)}: {_looked_at(report)}"))
        for finding in report.repaired:
            out.print(
                Text.assemble("  ", ("repaired", "bold green"), f" {_headline(finding)}"), soft_wrap=True
            )
        for finding in report.findings:
            _print_finding(out, finding)


def _verdict(report: "IntegrityReport") -> str:
    if report.is_clean:
        return "whole"
    counts = {
        severity: sum(finding.severity is severity for finding in report.findings) for severity in Severity
    }
    return ", ".join(
        console.format_plural(counts[severity], severity.value)
        for severity in (Severity.ERROR, Severity.WARNING)
        if counts[severity]
    )


def _looked_at(report: "IntegrityReport") -> str:
    things = [
        console.format_plural(report.commits, "commit"),
        console.format_plural(report.checkpoints, "checkpoint"),
        console.format_plural(report.checksums, "checksum"),
    ]
    if report.data_files is not None:
        things.append(console.format_plural(report.data_files, "data file"))
    if report.deletion_vectors:
        things.append(console.format_plural(report.deletion_vectors, "deletion vector"))
    return f"version {report.version}, {', '.join(things)}"


def _print_finding(out: Console, finding: Finding) -> None:
    style = _STYLES[finding.severity]
    out.print(Text.assemble("  ", (finding.severity.value, style), f" {_headline(finding)}"), soft_wrap=True)
    out.print(f"    {visible_lines(finding.explanation)}", soft_wrap=True)
    out.print(
        Text.assemble("    ", ("fix", "bold green"), f": {visible_lines(finding.remedy)}"), soft_wrap=True
    )


def _headline(finding: Finding) -> str:
    return visible_lines(f"{finding.rule} ({finding.invariant}) {finding.where}")
