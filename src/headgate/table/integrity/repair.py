"""Repairing a table where nothing can be lost: what can be derived from the rest is written anew.

Nothing is deleted before what stands for it is written and was read, so a repair that breaks off leaves what
was there.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import structs

from headgate.catalog.ports.commits import StagedCommit
from headgate.errors import HeadgateError, InvalidRequest, ObjectExists, ObjectNotFound
from headgate.protocol import table_features
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.integrity_findings import Finding
from headgate.protocol.log import file_names, last_checkpoint, log_retention
from headgate.protocol.log.file_names import LogFile, LogFileKind
from headgate.protocol.log.last_checkpoint import LastCheckpoint, V2Checkpoint
from headgate.protocol.log.version_checksum import FileTotals
from headgate.table.commit import catalog_hints
from headgate.table.integrity import check, replay
from headgate.table.integrity.check import IntegrityReport, IntegritySubject
from headgate.table.integrity.contents import Evidence
from headgate.table.read import checkpoint_reader, checksum_files, snapshot
from headgate.table.upkeep import checkpoint_writer, log_compaction


def check_and_repair(subject: IntegritySubject, *, data: bool = True) -> IntegrityReport:
    """Check, repair what can be, and check again: the second report, with what is repaired by now.

    What cannot be written is found again, and so is not among what is repaired.
    """
    before = check.check_table(subject, data=data)
    repairable = [finding for finding in before.findings if finding.repairable]
    if not repairable:
        return before
    for repair in REPAIRS:
        concerned = [finding for finding in repairable if finding.rule in repair.rules]
        if concerned:
            with suppress(HeadgateError):  # what could not be repaired is found again
                repair.run(subject, concerned)
    after = check.check_table(subject, data=data)
    left = {(finding.rule, finding.where) for finding in after.findings}
    repaired = tuple(finding for finding in repairable if (finding.rule, finding.where) not in left)
    return structs.replace(after, repaired=repaired)


@dataclass(frozen=True, slots=True)
class Repair:
    """One row: what it mends, and how."""

    rules: tuple[str, ...]
    run: Callable[[IntegritySubject, Iterable[Finding]], None]


def _republish(subject: IntegritySubject, findings: Iterable[Finding]) -> None:
    evidence = check.gather_evidence(subject)
    for finding in findings:
        row = evidence.row(Version(finding.version or 0))
        if row is None or row.file_name is None:
            continue
        content = subject.store.read(StagedCommit(row.file_name).path)
        if row.has_content(content):
            with suppress(ObjectExists):
                subject.store.put_if_absent(file_names.published_path(row.version), content)


def _publish(subject: IntegritySubject, _findings: Iterable[Finding]) -> None:
    subject.committer.publish()


def _advance_watermark(subject: IntegritySubject, _findings: Iterable[Finding]) -> None:
    """Move the watermark over what is published as it was ratified, up to the first version that is not."""
    if subject.keeper is None:
        return
    books, reached = subject.keeper.read(), None
    for row in books.rows:
        if row.version <= books.published:
            continue
        try:
            content = subject.store.read(file_names.published_path(row.version))
        except ObjectNotFound:
            break
        if not row.has_content(content):
            break
        reached = row.version
    if reached is not None:
        subject.keeper.mark_published(reached)


def _forget_table_state(subject: IntegritySubject, _findings: Iterable[Finding]) -> None:
    if subject.keeper is not None:
        subject.keeper.forget_description()


def _rewrite_checkpoints(subject: IntegritySubject, findings: Iterable[Finding]) -> None:
    """Oldest first, because a later one may be made from an earlier one."""
    evidence = check.gather_evidence(subject)
    damaged = {finding.where for finding in findings}
    versions = sorted({Version(finding.version or 0) for finding in findings})
    without = replace(
        evidence,
        listing=tuple(
            file
            for file in evidence.listing
            if not (file.kind is LogFileKind.CHECKPOINT and file.version in versions)
        ),
    )
    for version in versions:
        _require_log(replace(without, latest=version))
        old = {
            part.path for parts in evidence.checkpoints(version) if parts[0].path in damaged for part in parts
        }
        for path in sorted(old - {_replacement_checkpoint(subject, version, frozenset(old))}):
            subject.store.delete(path)


def _replacement_checkpoint(subject: IntegritySubject, version: Version, old: frozenset[str]) -> str:
    """The path of a checkpoint that was read and can stand for those at the ``old`` paths."""
    written = checkpoint_writer.write_checkpoint(
        subject.store, subject.committer, world=subject.world, version=version, instead_of=old
    )
    for parts in check.gather_evidence(subject).checkpoints(version):
        if parts[0].path not in old or (written is not None and parts[0].path == written.path):
            checkpoint_reader.read_checkpoint(subject.store, parts)
            return parts[0].path
    raise InvalidRequest(f"version {version} has no checkpoint that could stand for the damaged one")


def _require_log(evidence: Evidence) -> None:
    """Make sure, before anything is deleted, that a version can be had without its checkpoint, and kept."""
    state = replay.replay_log(evidence, lambda _: None).state
    if state is None or state.version != evidence.latest:
        raise InvalidRequest(f"version {evidence.latest} cannot be read without its checkpoint")
    table_features.check_maintainable(state.protocol, state.metadata)
    if state.version < log_retention.log_settings(state.protocol, state.metadata).protected_before:
        raise InvalidRequest(f"the checkpoint of version {state.version} is protected")


def _rewrite_compactions(subject: IntegritySubject, findings: Iterable[Finding]) -> None:
    frontier = subject.committer.frontier()
    for finding in findings:
        file = file_names.parse(finding.where)
        if file is not None and file.start is not None:
            for number in range(file.start, file.version + 1):
                subject.store.head(file_names.published_path(Version(number)))
            log_compaction.write_compaction(subject.store, frontier, file.start, file.version, replace=True)


def _rewrite_last_checkpoint(subject: IntegritySubject, _findings: Iterable[Finding]) -> None:
    evidence = check.gather_evidence(subject)
    usable = [parts for parts in evidence.checkpoints() if parts[0].version <= evidence.latest]
    if not usable:
        return
    newest = usable[-1]
    if len(newest) > 1:
        # The pointer is a hint, and without it readers list the log.
        subject.store.delete(file_names.LAST_CHECKPOINT)
        return
    subject.store.put(file_names.LAST_CHECKPOINT, last_checkpoint.render(_pointer(subject, newest[0])))


def _pointer(subject: IntegritySubject, file: LogFile) -> LastCheckpoint:
    _, files = checkpoint_reader.read_checkpoint(subject.store, [file])
    parquet = checkpoint_reader.checkpoint_sources(subject.store, [file]).parquet
    contents = {path: subject.store.read(path) for path in {file.path, *parquet}}
    rows = sum(
        pq.ParquetFile(pa.BufferReader(content)).metadata.num_rows
        if path.endswith(".parquet")
        else len(content.splitlines())
        for path, content in contents.items()
    )
    v2 = None
    if file_names.is_v2_checkpoint(file.path):
        meta = subject.store.head(file.path)
        v2 = V2Checkpoint(
            path=file.path.removeprefix(file_names.LOG_FOLDER),
            size_in_bytes=meta.size,
            modification_time=EpochMillis(meta.modified_ms),
        )
    return LastCheckpoint(
        version=file.version,
        size=rows,
        size_in_bytes=sum(map(len, contents.values())),
        num_of_add_files=files.without_stats.num_rows,
        v2_checkpoint=v2,
    )


def _rewrite_checksums(subject: IntegritySubject, findings: Iterable[Finding]) -> None:
    frontier = subject.committer.frontier()
    for version in sorted({Version(finding.version or 0) for finding in findings}):
        loaded = snapshot.load_snapshot(subject.store, frontier, target=version)
        sizes = loaded.files.without_stats["size"]
        totals = FileTotals(len(sizes), pc.sum(sizes).as_py() or 0)
        checksum_files.write_checksum(subject.store, loaded.state, totals, replace=True)
        catalog_hints.note_checksum(subject.committer, loaded.state, totals)


REPAIRS: tuple[Repair, ...] = (
    Repair(("published-missing",), _republish),
    Repair(
        ("watermark-lags", "staged-missing", "staged-damaged", "content-missing", "content-damaged"),
        _advance_watermark,
    ),
    Repair(("publish-order", "checkpoint-unpublished"), _publish),
    Repair(("description-differs",), _forget_table_state),
    # A checkpoint may be made from a compaction, which is made from commits alone.
    Repair(("compaction-damaged", "compaction-differs"), _rewrite_compactions),
    Repair(("checkpoint-damaged", "checkpoint-differs"), _rewrite_checkpoints),
    Repair(("pointer-damaged", "pointer-lags"), _rewrite_last_checkpoint),
    Repair(("checksum-damaged", "checksum-differs"), _rewrite_checksums),
)
