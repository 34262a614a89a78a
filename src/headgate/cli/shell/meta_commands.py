"""Which commands does the shell have besides SQL? Rows, by which they are found, run and listed.

They begin with a backslash, as those of psql do, take what is behind them on the line, and start no Spark.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from headgate.calls.summary import pairs_text
from headgate.cli import console
from headgate.cli.console import OutputColumn
from headgate.cli.folder import OpenedLake
from headgate.cli.shell.output import TextWriter
from headgate.cli.shell.script_file import read_script
from headgate.errors import InvalidRequest
from headgate.protocol.schema import json as schema_json
from headgate.spelling import did_you_mean
from headgate.sql.parse.grammar.rows import STATEMENT_ROWS
from headgate.sql.run.commands import descriptions

_UNKNOWN = "HEADGATE_UNKNOWN_COMMAND"


class LeaveShell(Exception):
    """Raised by the command that ends the shell."""


@dataclass(frozen=True, slots=True)
class IncludedFile:
    """Entries of a file, to be run."""

    path: str
    text: str


class MetaShell(Protocol):
    """What a command may look at and change of the shell."""

    opened: OpenedLake
    text: TextWriter
    most_rows: int | None


@dataclass(frozen=True, slots=True)
class MetaCommand:
    """One command."""

    name: str
    argument: str
    says: str
    run: Callable[[MetaShell, str], IncludedFile | None]

    @property
    def form(self) -> str:
        """How it is typed."""
        return f"\\{self.name} {self.argument}".rstrip()


def run_command(shell: MetaShell, text: str) -> IncludedFile | None:
    """Run the command that a line is; the entries that are to be run now, if it includes some."""
    name, _, argument = text.removeprefix("\\").partition(" ")
    command = next((command for command in META_COMMANDS if command.name == name), None)
    if command is None:
        near = did_you_mean(name, [command.name for command in META_COMMANDS])
        raise InvalidRequest(f"there is no command \\{name}:{near} \\? lists them", code=_UNKNOWN)
    return command.run(shell, argument.strip().removesuffix(";").strip())


def command_lines() -> list[tuple[str, str]]:
    """How each command is typed, and what it does."""
    return [(command.form, command.says) for command in META_COMMANDS]


def _describe(shell: MetaShell, argument: str) -> None:
    if not argument or any(sign in argument for sign in "*?["):
        _list_tables(shell, argument)
    else:
        _describe_table(shell, argument)


def _list_tables(shell: MetaShell, pattern: str) -> None:
    entries = [
        entry
        for entry in shell.opened.lake.tables()
        if not pattern or fnmatchcase(str(entry.name).lower(), pattern.lower())
    ]
    rows = [(entry.name.schema, entry.name.table, entry.location) for entry in entries]
    shell.text.show_rows([OutputColumn("schema"), OutputColumn("table"), OutputColumn("location")], rows)
    shell.text.console().print(f"({console.format_plural(len(rows), 'table')})")


def _describe_table(shell: MetaShell, name: str) -> None:
    table = shell.opened.lake.table(name)
    described = table.log.describe()
    metadata = described.metadata
    fields = schema_json.parse(metadata.schema_string).fields
    columns = [OutputColumn("column"), OutputColumn("type"), OutputColumn("null"), OutputColumn("comment")]
    rows = [
        (
            field.name,
            descriptions.type_text(field),
            "yes" if field.nullable else "no",
            str(field.metadata.get("comment") or ""),
        )
        for field in fields
    ]
    shell.text.show_rows(columns, rows)
    facts = {
        "table": f"{table.name}, version {described.version}",
        "comment": metadata.description or "",
        "partitioned by": ", ".join(metadata.partition_columns),
        "properties": pairs_text(metadata.configuration),
        "location": table.location,
    }
    console.show_pairs(shell.text.console(), {key: value for key, value in facts.items() if value})


def _list_schemas(shell: MetaShell, pattern: str) -> None:
    counts: dict[str, int] = dict.fromkeys(shell.opened.lake.schemas(), 0)
    for entry in shell.opened.lake.tables():
        counts[entry.name.schema] = counts.get(entry.name.schema, 0) + 1
    rows = [
        (name, console.format_count(count))
        for name, count in counts.items()
        if not pattern or fnmatchcase(name.lower(), pattern.lower())
    ]
    shell.text.show_rows([OutputColumn("schema"), OutputColumn("tables", right=True)], rows)


def _show_lake(shell: MetaShell, _: str) -> None:
    catalog = shell.opened.catalog
    facts = {"lake": shell.opened.place, "principal": catalog.principal, "warehouse": catalog.warehouse}
    console.show_pairs(shell.text.console(), facts)


def _help_sql(shell: MetaShell, words: str) -> None:
    wanted = words.lower()
    rows = {row.form: row.says for row in STATEMENT_ROWS if wanted in row.form.lower()}
    if not rows:
        raise InvalidRequest(f"no statement has {words!r} in it: \\h lists all of them", code=_UNKNOWN)
    if wanted:
        console.show_pairs(shell.text.console(), rows)
    else:
        names = sorted({" ".join(row.leads).upper() for row in STATEMENT_ROWS})
        shell.text.console().print(", ".join(names))
        shell.text.console().print("\\h and words of a statement, such as \\h alter table, says more")


def _help(shell: MetaShell, _: str) -> None:
    console.show_pairs(shell.text.console(), dict(command_lines()))


def _switch_timing(shell: MetaShell, argument: str) -> None:
    shell.text.timing = _switched(argument, now=shell.text.timing)
    _tell(shell, f"timing is {_on_off(shell.text.timing)}")


def _switch_expanded(shell: MetaShell, argument: str) -> None:
    shell.text.expanded = _switched(argument, now=shell.text.expanded)
    _tell(shell, f"expanded display is {_on_off(shell.text.expanded)}")


def _limit(shell: MetaShell, argument: str) -> None:
    if argument and not argument.isdecimal():
        raise InvalidRequest(f"\\limit takes a number of rows, or 0 for all, and not {argument!r}")
    if argument:
        shell.most_rows = int(argument) or None
    shown = "all rows are" if shell.most_rows is None else f"up to {shell.most_rows} rows are"
    _tell(shell, f"{shown} shown")


def _include(_: MetaShell, argument: str) -> IncludedFile:
    if not argument:
        raise InvalidRequest("\\i takes the name of a file with statements")
    return IncludedFile(argument, read_script(Path(argument).expanduser()))


def _output(shell: MetaShell, argument: str) -> None:
    shell.text.write_to(argument or None)


def _leave(_: MetaShell, __: str) -> None:
    raise LeaveShell


def _tell(shell: MetaShell, sentence: str) -> None:
    shell.text.console().print(sentence)


def _switched(argument: str, *, now: bool) -> bool:
    if argument not in ("", "on", "off"):
        raise InvalidRequest(f"say on, off, or nothing to change it, and not {argument!r}")
    return not now if not argument else argument == "on"


def _on_off(flag: bool) -> str:
    return "on" if flag else "off"


META_COMMANDS: tuple[MetaCommand, ...] = (
    MetaCommand("d", "[table | pattern]", "Describe a table; list all, or those like sales.*.", _describe),
    MetaCommand("dt", "[pattern]", "List tables.", _list_tables),
    MetaCommand("dn", "[pattern]", "List schemas, and how many tables are in each.", _list_schemas),
    MetaCommand("l", "", "Say which lake this is, and on whose behalf.", _show_lake),
    MetaCommand("h", "[words]", "Help with SQL: the statements that have these words.", _help_sql),
    MetaCommand("?", "", "List these commands.", _help),
    MetaCommand("timing", "[on | off]", "Say how long each statement took.", _switch_timing),
    MetaCommand("x", "[on | off]", "Show each value on a line of its own.", _switch_expanded),
    MetaCommand("limit", "[rows]", "Show at most so many rows of an answer; 0 shows all.", _limit),
    MetaCommand("i", "file", "Run the statements of a file.", _include),
    MetaCommand("o", "[file]", "Write answers to a file; without one, to the screen again.", _output),
    MetaCommand("q", "", "Leave; so does Ctrl-D.", _leave),
)
