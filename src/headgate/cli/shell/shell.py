"""What is a shell? A lake, who runs statements, how answers are shown, and what happens to one entry."""

import time
from dataclasses import dataclass
from enum import Enum

import typer

from headgate.cli import console, exit_codes
from headgate.cli.folder import OpenedLake
from headgate.cli.shell import meta_commands
from headgate.cli.shell.engine import StatementEngine
from headgate.cli.shell.entries import Entry, EntryReader
from headgate.cli.shell.meta_commands import LeaveShell
from headgate.cli.shell.names import LakeNames
from headgate.cli.shell.output import ResultWriter, StatementResult, TextWriter
from headgate.cli.visible_text import visible_line
from headgate.errors import HeadgateError


class EntryOutcome(Enum):
    """What became of an entry."""

    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LEAVE = "leave"


@dataclass(slots=True)
class SqlShell:
    """Runs entries, one after the other, and goes on after an error."""

    opened: OpenedLake
    engine: StatementEngine
    names: LakeNames
    text: TextWriter
    """How answers are shown to people, which ``\\x`` and others change."""
    writer: ResultWriter
    """How answers are shown: to people, or to programs."""
    most_rows: int | None
    number: int = 0
    """How many statements there were."""
    failure: int = exit_codes.REFUSED
    """The exit code of the last error."""

    def run(self, entry: Entry) -> EntryOutcome:
        """Run an entry; an error is told, and not raised."""
        try:
            if entry.is_command:
                return self._run_command(entry)
            self._run_statement(entry)
        except HeadgateError as exc:
            console.show_error(exc)
            self.failure = exit_codes.exit_code_of(exc)
            return EntryOutcome.FAILED
        except LeaveShell:
            return EntryOutcome.LEAVE
        except KeyboardInterrupt:
            return EntryOutcome.CANCELLED
        return EntryOutcome.DONE

    def run_all(self, text: str) -> tuple[Entry, EntryOutcome] | None:
        """Run the entries of a text up to the first that is not done; that one, or None."""
        reader = EntryReader()
        entries = [*reader.feed(text)]
        last = reader.finish()
        for entry in entries if last is None else (*entries, last):
            outcome = self.run(entry)
            if outcome is not EntryOutcome.DONE:
                return entry, outcome
        return None

    def _run_command(self, entry: Entry) -> EntryOutcome:
        included = meta_commands.run_command(self, entry.text)
        if included is None:
            return EntryOutcome.DONE
        stopped = self.run_all(included.text)
        if stopped is None:
            return EntryOutcome.DONE
        if stopped[1] is EntryOutcome.FAILED:
            typer.echo(visible_line(f"in {included.path}, line {stopped[0].line}"), err=True)
        return stopped[1]

    def _run_statement(self, entry: Entry) -> None:
        self.number += 1
        begin = time.perf_counter()
        answer = self.engine.run(entry.text, self.most_rows)
        seconds = time.perf_counter() - begin
        self.names.forget()
        self.writer.show(StatementResult(self.number, entry.line, entry.text, answer, seconds))
