"""Small programs over a table, run for real and run on paper, to compare the two.

A row is a token in a partition. What a program writes depends on all it read, so a table shows
whether it saw what it should have seen.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from headgate.errors import ConflictError
from headgate.protocol.actions import Action, AddFile, AppTransaction, RemoveFile
from headgate.protocol.predicates import from_sql
from headgate.protocol.schema import json as schema_json
from headgate.table.commit.read_set import ReadRecorder
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation
from tests.support.attempts import added

PARTITIONS = (1, 2)
KINDS = ("append", "copy", "delete", "rewrite", "tidy", "overwrite", "summarise", "enlist")


@dataclass(frozen=True)
class Program:
    """What to do, from which partition, into which."""

    kind: str
    source: int
    target: int


@dataclass(frozen=True)
class Rows:
    """The tokens of every partition, in order, and the number of the one application."""

    tokens: Mapping[int, tuple[str, ...]]
    number: int = 0

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(self.tokens[key] for key in sorted(self.tokens)))

    def having(self, partition: int, tokens: Iterable[str]) -> "Rows":
        return Rows({**self.tokens, partition: tuple(sorted(tokens))}, self.number)


def serially(rows: Rows, programs: Iterable[tuple[str, Program]]) -> Rows:
    """The rows after the named programs, one after another."""
    for name, program in programs:
        rows = _on_paper(rows, name, program)
    return rows


def _on_paper(rows: Rows, name: str, program: Program) -> Rows:
    seen, there = rows.tokens[program.source], rows.tokens[program.target]
    match program.kind:
        case "append":
            return rows.having(program.target, (*there, name))
        case "copy":
            return rows.having(program.target, (*there, _saw(name, seen)))
        case "delete":
            return rows.having(program.source, ())
        case "rewrite":
            return rows.having(program.source, (f"{token}*" for token in seen))
        case "overwrite":
            empty = Rows(dict.fromkeys(PARTITIONS, ()), rows.number)
            return empty.having(program.target, (_saw(name, rows.all),))
        case "summarise":
            return rows.having(program.target, (*there, _saw(name, rows.all)))
        case "enlist":
            grown = rows.having(program.target, (*there, f"{name}#{rows.number}"))
            return Rows(grown.tokens, rows.number + 1)
        case _:
            return rows


def _saw(name: str, tokens: Sequence[str]) -> str:
    return f"{name}<{','.join(sorted(tokens))}>"


@dataclass
class Bench:
    """A real table whose files are only remembered, with what is in them."""

    table: OpenedTable
    contents: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)

    def fill(self, rows: Rows) -> None:
        """Put these rows into it, a file each."""
        adds = [
            self._added(f"base-{partition}-{number}", partition, (token,))
            for partition, tokens in rows.tokens.items()
            for number, token in enumerate(tokens)
        ]
        self.table.commit(Change(Operation("FILL"), tuple(adds)), base=self.table.snapshot())

    def rows(self) -> Rows:
        """What is in it now."""
        snapshot = self.table.snapshot()
        tokens: dict[int, list[str]] = {partition: [] for partition in PARTITIONS}
        for path in _paths(snapshot):
            partition, found = self.contents[path]
            tokens[partition] += found
        app = snapshot.state.txns.get("app")
        return Rows({key: tuple(sorted(found)) for key, found in tokens.items()}, app.version if app else 0)

    def commit(self, name: str, program: Program, base: Snapshot) -> bool:
        """Run the program as of ``base`` and commit it; whether it became a version.

        What found nothing to do becomes none: it counts as having run where it read.
        """
        try:
            return self.table.commit(self._change(name, program, base), base=base) > base.version
        except ConflictError:
            return False

    def _change(self, name: str, program: Program, base: Snapshot) -> Change:
        reads = ReadRecorder()
        actions = tuple(self._actions(name, program, base, reads))
        operation = Operation(program.kind.upper(), changes_data=program.kind != "tidy")
        applications = frozenset(each.app_id for each in actions if isinstance(each, AppTransaction))
        read = replace(reads.freeze(), app_ids=applications)
        return Change(operation, actions, read, skip_if_empty=True)

    def _actions(self, name: str, program: Program, base: Snapshot, reads: ReadRecorder) -> Iterable[Action]:
        match program.kind:
            case "append":
                yield self._added(name, program.target, (name,))
            case "copy":
                _, tokens = self._scan(program.source, base, reads)
                yield self._added(name, program.target, (_saw(name, tokens),))
            case "delete" | "rewrite" | "tidy":
                files, tokens = self._scan(program.source, base, reads)
                changed = program.kind != "tidy"
                yield from (RemoveFile(path=path, data_change=changed) for path in files)
                written = tuple(f"{token}*" for token in tokens) if program.kind == "rewrite" else tokens
                if files and program.kind != "delete":
                    rewritten = self._added(name, program.source, written)
                    yield msgspec.structs.replace(rewritten, data_change=changed)
            case "overwrite" | "summarise":
                reads.scanned_everything()
                files = _paths(base)
                tokens = tuple(token for path in files for token in self.contents[path][1])
                if program.kind == "overwrite":
                    yield from (RemoveFile(path=path, data_change=True) for path in files)
                yield self._added(name, program.target, (_saw(name, tokens),))
            case _:
                last = base.state.txns.get("app")
                number = last.version if last else 0
                yield AppTransaction(app_id="app", version=number + 1)
                yield self._added(name, program.target, (f"{name}#{number}",))

    def _scan(self, partition: int, base: Snapshot, reads: ReadRecorder) -> tuple[list[str], tuple[str, ...]]:
        schema = schema_json.parse(base.state.metadata.schema_string)
        files = [path for path in _paths(base) if self.contents[path][0] == partition]
        reads.scanned(from_sql.parse(f"p = {partition}", schema), files)
        return files, tuple(token for path in files for token in self.contents[path][1])

    def _added(self, name: str, partition: int, tokens: tuple[str, ...]) -> AddFile:
        partitioned = bool(self.table.newest_known().state.metadata.partition_columns)
        self.contents[name] = partition, tokens
        return added(name, {"p": str(partition)} if partitioned else {})


def _paths(snapshot: Snapshot) -> list[str]:
    paths: list[str] = snapshot.files.columns["path"].to_pylist()
    return paths
