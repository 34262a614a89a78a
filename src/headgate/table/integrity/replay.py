"""Do a table's commits, one after another, add up to a table? The rules of single commits, as rows.

A table whose only file is ``a``, from version 1 on, and what is found of the versions after it:

    2   {"add":{"path":"a","dataChange":true}}   added-twice: a is part of the table already
    3   {"remove":{"path":"b"}}                  removed-absent: b is not part of the table
    4   not to be had                            history-gap: there is a checkpoint of version 9

After the gap the replay goes on from that checkpoint, which is believed. Without a later one the rule is
log-gap, and the replay ends there.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from headgate.errors import CorruptLog
from headgate.protocol import file_key, property_values
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    Commit,
    CommitInfo,
    DeletionVector,
    DomainMetadata,
    Metadata,
    Protocol,
    TxnId,
    Version,
    commit_from_actions,
)
from headgate.protocol.features import row_tracking
from headgate.protocol.file_key import FileKey
from headgate.protocol.integrity_findings import Finding, new_finding
from headgate.protocol.log import codec, deletion_vectors, file_names, replay, timestamps
from headgate.protocol.log.replay import State
from headgate.protocol.stats import record_counts
from headgate.storage import parallel_reads
from headgate.table.integrity import contents
from headgate.table.integrity.contents import Evidence, VersionContent
from headgate.table.read import checkpoint_reader
from headgate.table.read.live_files import LiveFiles

LiveAdds = dict[FileKey, AddFile]


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One commit between two states."""

    commit: Commit
    actions: Sequence[Action]
    first: CommitInfo | None
    """The commitInfo, if it is the first action."""
    before: State | None
    after: State
    live: LiveAdds
    """The files before it."""

    @property
    def version(self) -> Version:
        return self.commit.version


@dataclass
class LogReplay:
    """A replay in progress: the state and the files reached, and what was found on the way."""

    evidence: Evidence
    findings: list[Finding] = field(default_factory=list)
    state: State | None = None
    live: LiveAdds = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    """Every path of a data file or a vector that the log names, also of files that are gone."""
    txn_ids: dict[TxnId, Version] = field(default_factory=dict)
    commits: int = 0
    trusted: set[str] = field(default_factory=set)
    """The checkpoints that had to be believed, because what was before them is gone."""

    @property
    def reached(self) -> State | None:
        """The table at its latest version, None if the replay did not come so far."""
        state = self.state
        return state if state is not None and state.version == self.evidence.latest else None


def replay_log(evidence: Evidence, at: Callable[[LogReplay], None]) -> LogReplay:
    """Replay every version that can be had; ``at`` looks at each one reached."""
    made = LogReplay(evidence)
    position = _begin(made, at)
    while position is not None and position <= evidence.latest:
        versions = map(Version, range(position, evidence.latest + 1))
        position = None
        for content in parallel_reads.map_in_order(
            evidence.store, lambda version: contents.read_version(evidence, version), versions
        ):
            if not _advance(made, content):
                position = _resume(made, content.version, at)
                break
            at(made)
    return made


def _begin(made: LogReplay, at: Callable[[LogReplay], None]) -> Version | None:
    """Where the replay begins: at version 0, or after the oldest checkpoint if that is gone."""
    evidence = made.evidence
    first = Version(0)
    if first in evidence.published() or first in evidence.unpublished or not evidence.checkpoints():
        return first
    return _resume(made, first, at)


def _resume(made: LogReplay, missing: Version, at: Callable[[LogReplay], None]) -> Version | None:
    """Go on from the first checkpoint at or after a version that cannot be had, if there is one."""
    made.state = None
    for parts in made.evidence.checkpoints():
        version = parts[0].version
        if version < missing:
            continue
        try:
            state, files = checkpoint_reader.read_checkpoint(made.evidence.store, parts)
            live = live_adds(files)
        except CorruptLog as exc:
            made.findings.append(
                new_finding("checkpoint-damaged", parts[0].path, exc.message, version=version)
            )
            made.trusted.update(part.path for part in parts)
            continue
        content = contents.read_version(made.evidence, version)
        info = codec.decode_commit_info(version, content.data) if content.data is not None else None
        made.state, made.live = replace(state, info=info), live
        made.named.update(path for add in live.values() for path in _paths(add.path, add.deletion_vector))
        made.trusted.update(part.path for part in parts)
        at(made)
        return Version(version + 1)
    return None


def live_adds(files: LiveFiles) -> LiveAdds:
    """The files of a checkpoint as actions, without what a comparison does not need."""
    found_files: LiveAdds = {}
    for row in files.without_stats.to_pylist():
        vector = row["deletion_vector"]
        add = AddFile(
            path=row["path"],
            partition_values=dict(row["partition_values"] or ()),
            size=row["size"],
            modification_time=row["modified_ms"],
            data_change=False,
            deletion_vector=None if vector is None else DeletionVector(**vector),
            base_row_id=row["base_row_id"],
            default_row_commit_version=row["default_row_commit_version"],
        )
        found_files[file_key.file_key(add)] = add
    return found_files


def _advance(made: LogReplay, content: VersionContent) -> bool:
    """Apply one commit; whether it could be had."""
    version, path = content.version, file_names.published_path(content.version)
    made.findings += content.findings
    if content.data is None:
        if not content.findings:
            later = any(parts[0].version >= version for parts in made.evidence.checkpoints())
            rule = "history-gap" if later else "log-gap"
            problem = f"version {version} is not in the log, which reaches version {made.evidence.latest}"
            made.findings.append(new_finding(rule, path, problem, version=version))
        return False
    try:
        actions = codec.decode_actions(version, content.data)
        first = codec.decode_commit_info(version, content.data)
    except CorruptLog as exc:
        made.findings.append(new_finding("commit-damaged", path, exc.message, version=version))
        return False
    commit, before = commit_from_actions(version, actions), made.state
    try:
        made.state = replay.initial_state(commit) if before is None else replay.advance(before, commit)
    except CorruptLog as exc:
        made.findings.append(new_finding("no-protocol", path, exc.message, version=version))
        return False
    step = ReplayStep(commit, actions, first, before, made.state, made.live)
    made.findings += [
        new_finding(rule, path, problem, version=version)
        for rule, breach in COMMIT_RULES
        for problem in breach(step)
    ]
    made.findings += _against_catalog_record(made, step)
    _apply(made, commit)
    made.commits += 1
    return True


def _apply(made: LogReplay, commit: Commit) -> None:
    for remove in commit.removes:
        made.live.pop(file_key.file_key(remove), None)
        made.named.update(_paths(remove.path, remove.deletion_vector))
    for add in commit.adds:
        made.live[file_key.file_key(add)] = add
        made.named.update(_paths(add.path, add.deletion_vector))


def _paths(path: str, vector: DeletionVector | None) -> Iterator[str]:
    yield path
    if vector is not None and vector.storage_type == "u":
        try:
            place = deletion_vectors.vector_location(vector)
        except CorruptLog:  # the files' own check tells
            return
        if isinstance(place, deletion_vectors.StoredVector):
            yield place.path


def _against_catalog_record(made: LogReplay, step: ReplayStep) -> Iterator[Finding]:
    """What a commit says of itself must be what the catalog has written down, and nobody else's."""
    info, row = step.commit.info, made.evidence.row(step.version)
    said = (info.txn_id, info.in_commit_timestamp) if info is not None else (None, None)
    if row is not None and said != (row.txn_id, row.in_commit_timestamp):
        then, recorded = map(timestamps.format_timestamp, (said[1], row.in_commit_timestamp))
        yield new_finding(
            "row-differs", file_names.published_path(step.version),
            f"the commit says {said[0]} at {then}, the catalog {row.txn_id} at {recorded}",
            version=step.version,
        )  # fmt: skip
    if said[0] is not None:
        first = made.txn_ids.setdefault(said[0], step.version)
        if first != step.version:
            problem = f"it has the txnId {said[0]} of version {first}"
            yield new_finding(
                "txn-twice", file_names.published_path(step.version), problem, version=step.version
            )


def _said_twice(step: ReplayStep) -> Iterator[str]:
    things = Counter(_reconciliation_key(action) for action in step.actions)
    for thing, count in things.items():
        if thing is not None and count > 1:
            yield f"it has {count} actions about {thing}"


def _reconciliation_key(action: Action) -> str | None:
    """What an action is about, if a commit may say only one thing about it."""
    match action:
        case Protocol():
            return "the protocol"
        case Metadata():
            return "the metadata"
        case AppTransaction(app_id=app_id):
            return f"the application {app_id}"
        case DomainMetadata(domain=domain):
            return f"the domain {domain}"
        case AddFile():
            vector = file_key.deletion_vector_id(action.deletion_vector)
            return f"the file {action.path}" + (f" with the vector {vector}" if vector else "")
        case _:
            return None


def _added_and_removed(step: ReplayStep) -> Iterator[str]:
    added = {file_key.file_key(add) for add in step.commit.adds}
    for path, _ in added & {file_key.file_key(remove) for remove in step.commit.removes}:
        yield f"{path} is both added and removed"


def _added_twice(step: ReplayStep) -> Iterator[str]:
    removed = {file_key.file_key(remove) for remove in step.commit.removes}
    for add in step.commit.adds:
        key = file_key.file_key(add)
        if add.data_change and key in step.live and key not in removed:
            yield f"{add.path} is part of the table already"


def _removed_absent(step: ReplayStep) -> Iterator[str]:
    for remove in step.commit.removes:
        if file_key.file_key(remove) not in step.live and not deletion_vectors.is_vector_file(remove.path):
            yield f"{remove.path} is not part of the table"


def _application_order(step: ReplayStep) -> Iterator[str]:
    known = step.before.txns if step.before is not None else {}
    for txn in step.commit.txns:
        last = known.get(txn.app_id)
        if last is not None and txn.version <= last.version:
            yield f"the application {txn.app_id} is at {last.version} and goes to {txn.version}"


def _timestamp_missing(step: ReplayStep) -> Iterator[str]:
    if not step.after.has_in_commit_timestamps:
        return
    if step.first is None:
        yield "its first action is not a commitInfo"
    elif step.first.in_commit_timestamp is None:
        yield "its commitInfo has no inCommitTimestamp"


def _timestamp_order(step: ReplayStep) -> Iterator[str]:
    if step.before is None or not step.before.has_in_commit_timestamps:
        return
    before, now = step.before.in_commit_timestamp, step.after.in_commit_timestamp
    if before is not None and now is not None and now <= before:
        ours, last = map(timestamps.format_timestamp, (now, before))
        yield f"it is stamped {ours}, version {step.version - 1} is stamped {last}"


def _timestamp_enablement(step: ReplayStep) -> Iterator[str]:
    if not step.after.has_in_commit_timestamps or step.commit.metadata is None:
        return
    try:
        enabled = timestamps.enablement(step.after.metadata.configuration)
    except CorruptLog as exc:
        yield exc.message
        return
    if step.before is None or step.before.has_in_commit_timestamps:
        return
    if (enabled.version, enabled.at) != (step.version, step.after.in_commit_timestamp):
        began, said = map(timestamps.format_timestamp, (step.after.in_commit_timestamp, enabled.at))
        yield f"timestamps begin here, at {began}; the properties say version {enabled.version}, {said}"


COMMIT_RULES: tuple[tuple[str, Callable[[ReplayStep], Iterator[str]]], ...] = (
    ("said-twice", _said_twice),
    ("added-and-removed", _added_and_removed),
    ("added-twice", _added_twice),
    ("removed-absent", _removed_absent),
    ("application-order", _application_order),
    ("timestamp-missing", _timestamp_missing),
    ("timestamp-order", _timestamp_order),
    ("timestamp-enablement", _timestamp_enablement),
)


def check_latest(made: LogReplay) -> Iterator[Finding]:
    """What must be true of the files of the latest version together."""
    if made.state is None:
        return
    where, version = file_names.published_path(made.state.version), made.state.version
    for path, times in Counter(path for path, _ in made.live).items():
        if times > 1:
            problem = f"{path} is part of the table {times} times, with different deletion vectors"
            yield new_finding("live-twice", where, problem, version=version)
    for problem in _row_ids(made.state, made.live):
        yield new_finding("row-ids", where, problem, version=version)


def _row_ids(state: State, live: LiveAdds) -> Iterator[str]:
    enabled = property_values.flag(state.metadata, property_values.ROW_TRACKING)
    if not enabled or not row_tracking.is_supported(state.protocol):
        return
    without = [add.path for add in live.values() if add.base_row_id is None]
    if without:
        yield f"{without[0]} has no row ids, {len(without)} files in all"
    try:
        mark = row_tracking.high_water_mark(state)
    except CorruptLog as exc:
        yield exc.message
        return
    spans = sorted(
        (add.base_row_id, add.base_row_id + (record_counts.counts_of_file(add).num_records or 1), add.path)
        for add in live.values()
        if add.base_row_id is not None
    )
    for (_, end, path), (start, _, following) in pairwise(spans):
        if start < end and path != following:
            yield f"{path} and {following} both have the row id {start}"
    if spans and max(end for _, end, _ in spans) - 1 > mark:
        yield f"the highest row id is {max(end for _, end, _ in spans) - 1}, the mark is {mark}"
