"""Do checkpoints, compactions, checksums and the pointer say what the commits say?"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from headgate.errors import CorruptLog, ObjectNotFound
from headgate.protocol import file_key
from headgate.protocol.actions import (
    Action,
    AddFile,
    Commit,
    Metadata,
    Protocol,
    RemoveFile,
    Version,
    commit_from_actions,
)
from headgate.protocol.integrity_findings import Finding, new_finding
from headgate.protocol.log import codec, file_names, last_checkpoint, log_compaction, version_checksum
from headgate.protocol.log.file_names import LogFile, LogFileKind
from headgate.protocol.log.normal_form import normal_form
from headgate.protocol.log.replay import State
from headgate.protocol.log.version_checksum import FileTotals
from headgate.storage.store import Store
from headgate.table.integrity import contents as integrity_contents
from headgate.table.integrity.contents import Evidence
from headgate.table.integrity.replay import LiveAdds, LogReplay, live_adds
from headgate.table.read import checkpoint_reader

_SHOWN = 3


@dataclass
class DerivedFileCheck:
    """Looks at what was derived from each version, when the replay is there."""

    findings: list[Finding] = field(default_factory=list)
    checkpoints: int = 0
    compactions: int = 0
    checksums: int = 0
    by_version: Mapping[Version, list[LogFile]] = field(default_factory=dict)

    def look(self, walk: LogReplay) -> None:
        """At the version that the walk has reached."""
        state = walk.state
        if state is None:
            return
        files = self.by_version.get(state.version, ())
        if any(file.kind is LogFileKind.CHECKPOINT for file in files):
            for parts in walk.evidence.checkpoints(state.version):
                self.checkpoints += 1
                self.findings += _checkpoint_findings(walk, state, parts)
        for file in files:
            if file.kind is LogFileKind.COMPACTED and file.start is not None:
                self.compactions += 1
                self.findings += _compaction_findings(walk.evidence, file, Version(file.start))
            if file.kind is LogFileKind.CHECKSUM:
                self.checksums += 1
                self.findings += _checksum_findings(walk, state, file)


def begin_check(evidence: Evidence) -> DerivedFileCheck:
    """A look at this evidence that has not begun."""
    by_version: dict[Version, list[LogFile]] = {}
    for file in evidence.listing:
        by_version.setdefault(file.version, []).append(file)
    return DerivedFileCheck(by_version=by_version)


def _checkpoint_findings(walk: LogReplay, state: State, parts: tuple[LogFile, ...]) -> Iterator[Finding]:
    path, version = parts[0].path, state.version
    if path in walk.trusted:
        return
    try:
        said, files = checkpoint_reader.read_checkpoint(walk.evidence.store, parts)
        live = live_adds(files)
    except CorruptLog as exc:
        yield new_finding("checkpoint-damaged", path, exc.message, version=version, repairable=True)
        return
    problems = [*_state_differences(said, state), *_file_differences(live, walk.live)]
    if problems:
        problem = "; ".join(problems[:_SHOWN])
        yield new_finding("checkpoint-differs", path, problem, version=version, repairable=True)


def _state_differences(said: State, is_so: State) -> Iterator[str]:
    if normal_form(said.protocol) != normal_form(is_so.protocol):
        yield "it has another protocol than the commits"
    if normal_form(said.metadata) != normal_form(is_so.metadata):
        yield "it has other metadata than the commits"
    # Those that have expired may be left out.
    if any(is_so.txns.get(app) != txn for app, txn in said.txns.items()):
        yield "it has other application transactions than the commits"
    if dict(said.domains) != dict(is_so.domains):
        yield "it has other metadata domains than the commits"


def _file_differences(said: LiveAdds, is_so: LiveAdds) -> Iterator[str]:
    lacking, more = is_so.keys() - said.keys(), said.keys() - is_so.keys()
    if lacking:
        yield f"it lacks {len(lacking)} files, such as {min(path for path, _ in lacking)}"
    if more:
        yield f"it has {len(more)} files too many, such as {min(path for path, _ in more)}"
    for key in said.keys() & is_so.keys():
        for name, read in _FACTS:
            if read(said[key]) != read(is_so[key]):
                yield f"{key[0]} has another {name}: {read(said[key])}, and {read(is_so[key])} in the commits"


_FACTS: tuple[tuple[str, Callable[[AddFile], object]], ...] = (
    ("size", lambda add: add.size),
    ("partition", lambda add: {name: value or None for name, value in add.partition_values.items()}),
    ("row id", lambda add: add.base_row_id),
    ("row commit version", lambda add: add.default_row_commit_version),
)


def _compaction_findings(evidence: Evidence, file: LogFile, start: Version) -> Iterator[Finding]:
    try:
        content = evidence.store.read(file.path)
        said = commit_from_actions(file.version, codec.decode_actions(file.version, content))
    except CorruptLog as exc:
        yield new_finding("compaction-damaged", file.path, exc.message, version=file.version, repairable=True)
        return
    if not log_compaction.is_reconciled(file.version, content):
        problem = "it says more than one thing of a file, an application, a domain or the table"
        yield new_finding("compaction-damaged", file.path, problem, version=file.version, repairable=True)
        return
    contents = [
        integrity_contents.read_version(evidence, Version(version))
        for version in range(start, file.version + 1)
    ]
    try:
        commits = [codec.decode(content.version, content.data or b"") for content in contents]
    except CorruptLog:  # the replay tells
        return
    if any(content.data is None for content in contents):  # cleaned up, so nobody can tell
        return
    is_so = commit_from_actions(file.version, log_compaction.reconcile(commits))
    problems = [f"it has other {name} than the commits" for name, read in _PARTS if read(said) != read(is_so)]
    if problems:
        problem = "; ".join(problems)
        yield new_finding("compaction-differs", file.path, problem, version=file.version, repairable=True)


def _keyed(files: Iterable[AddFile | RemoveFile]) -> dict[object, object]:
    return {file_key.file_key(file): file.size if isinstance(file, AddFile) else None for file in files}


def _optional(action: Protocol | Metadata | None) -> dict[str, Any] | None:
    return None if action is None else normal_form(action)


def _set(actions: Iterable[Action]) -> set[bytes]:
    return {msgspec.json.encode(action) for action in actions}


_PARTS: tuple[tuple[str, Callable[[Commit], object]], ...] = (
    ("protocol", lambda commit: _optional(commit.protocol)),
    ("metadata", lambda commit: _optional(commit.metadata)),
    ("added files", lambda commit: _keyed(commit.adds)),
    ("removed files", lambda commit: _keyed(commit.removes)),
    ("application transactions", lambda commit: _set(commit.txns)),
    ("metadata domains", lambda commit: _set(commit.domains)),
)


def _checksum_findings(walk: LogReplay, state: State, file: LogFile) -> Iterator[Finding]:
    try:
        content = walk.evidence.store.read(file.path)
    except ObjectNotFound:  # it was cleaned up after the listing
        return
    recorded = version_checksum.parse(content)
    if recorded is None and _is_older(content):
        return
    if recorded is None:
        problem = "it is not JSON with the fields of a checksum"
        yield new_finding("checksum-damaged", file.path, problem, version=state.version, repairable=True)
        return
    totals = FileTotals(len(walk.live), sum(add.size for add in walk.live.values()))
    differences = version_checksum.compare_checksums(recorded, version_checksum.build_checksum(state, totals))
    if differences:
        problem = "; ".join(str(difference) for difference in differences[:_SHOWN])
        yield new_finding("checksum-differs", file.path, problem, version=state.version, repairable=True)


def _is_older(content: bytes) -> bool:
    """Whether it is a checksum of a writer that said less than the protocol asks for by now."""
    try:
        return "numFiles" in msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def incomplete_checkpoints(evidence: Evidence) -> Iterator[Finding]:
    """Checkpoints of which parts are missing."""
    whole = {part.path for parts in evidence.checkpoints() for part in parts}
    for file in evidence.listing:
        if file.kind is LogFileKind.CHECKPOINT and file.path not in whole and file.version <= evidence.latest:
            empty = "it is empty" if file.size == 0 else f"it is part {file.part} of {file.parts}"
            yield new_finding("checkpoint-incomplete", file.path, empty, version=file.version)


class _Pointer(msgspec.Struct, frozen=True):
    version: int
    checksum: str | None = None


def read_pointer(store: Store) -> bytes | None:
    """The pointer as it is; None if there is none."""
    try:
        return store.read(file_names.LAST_CHECKPOINT)
    except ObjectNotFound:
        return None


def check_pointer(evidence: Evidence, content: bytes | None) -> Iterator[Finding]:
    """Whether the pointer, read before the log was listed, points to the newest checkpoint."""
    whole = [parts[0].version for parts in evidence.checkpoints() if parts[0].version <= evidence.latest]
    newest = max(whole, default=None)
    can = newest is not None
    if content is None:
        if can:
            yield _pointer_finding("pointer-lags", f"it is absent, and version {newest} has a checkpoint")
        return
    try:
        pointer = msgspec.json.decode(content, type=_Pointer)
        said = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        yield _pointer_finding("pointer-damaged", f"it cannot be parsed: {exc}", repairable=can)
        return
    if pointer.checksum is not None and pointer.checksum != last_checkpoint.checksum(said):
        yield _pointer_finding("pointer-damaged", "its checksum is not that of its content", repairable=can)
    elif pointer.version not in whole:
        problem = f"version {pointer.version} has no checkpoint, or none that is whole"
        yield _pointer_finding("pointer-damaged", problem, repairable=can)
    elif newest is not None and pointer.version < newest:
        problem = f"it points to version {pointer.version}, and {newest} has one too"
        yield _pointer_finding("pointer-lags", problem)


def _pointer_finding(rule: str, problem: str, *, repairable: bool = True) -> Finding:
    return new_finding(rule, file_names.LAST_CHECKPOINT, problem, repairable=repairable)
