"""Is a table whole? Checks, at rest, every invariant that can be seen in its log, its files and its catalog.

Nothing is changed unless a repair is asked for, and a repair only writes anew what can be derived
from what is there: it never deletes the only copy of anything. Writers may go on meanwhile: the
log is listed before the catalog is asked, so what was listed must be known by then.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec
from typing_extensions import override

from headgate.calls import summary
from headgate.calls.summary import Grid, Summary
from headgate.catalog.ports import integrity
from headgate.catalog.ports.integrity import CATALOG_DATABASE, CatalogRecords, TableBooks
from headgate.catalog.ports.maintenance import Maintenance
from headgate.clock import World
from headgate.errors import ObjectNotFound, TableNotFound
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.integrity_findings import Finding, Severity, new_finding, without_repair
from headgate.protocol.log import file_names, timestamps
from headgate.protocol.log.file_names import LogFileKind
from headgate.protocol.log.replay import State
from headgate.storage.store import Store
from headgate.table import authority
from headgate.table.authority import UNANSWERED_ERRORS, Decider
from headgate.table.committer import Committer
from headgate.table.integrity import data_files, replay
from headgate.table.integrity import derived as integrity_derived
from headgate.table.integrity.contents import Evidence
from headgate.table.integrity.data_files import DataFileFindings
from headgate.table.integrity.derived import DerivedFileCheck
from headgate.table.integrity.replay import LogReplay
from headgate.table.read import log_reader

_MOST_OF_A_KIND = 100
_DATA_NOT_CHECKED = DataFileFindings(0, 0, ())


@dataclass(frozen=True, slots=True)
class IntegritySubject:
    """The table to be checked; ``keeper`` has the books of its catalog, if one manages it."""

    name: str
    location: str
    store: Store
    committer: Committer
    world: World
    keeper: TableBooks | None = None


class IntegrityReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was looked at, what was found, the worst first, and what was repaired before that."""

    table: str
    location: str
    version: int | None
    commits: int
    checkpoints: int
    checksums: int
    data_files: int | None
    deletion_vectors: int | None
    findings: tuple[Finding, ...]
    repaired: tuple[Finding, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to worry about; notes are not."""
        return not any(finding.severity is not Severity.NOTE for finding in self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The broken invariants."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @override
    def __repr__(self) -> str:
        return summary.one_line(
            "IntegrityReport",
            self.table,
            version=self.version,
            is_clean=self.is_clean,
            findings=len(self.findings),
            repaired=len(self.repaired) or None,
        )

    def _repr_html_(self) -> str:
        facts = (
            ("version", "" if self.version is None else str(self.version)),
            ("clean", "yes" if self.is_clean else "no"),
            ("commits", f"{self.commits:,}"),
            ("data files", "not looked at" if self.data_files is None else f"{self.data_files:,}"),
            ("location", self.location),
        )
        named = (("found", self.findings), ("repaired", self.repaired))
        grids = tuple(_finding_grid(title, findings) for title, findings in named if findings)
        return summary.to_html(Summary(f"Integrity of {self.table}", facts, grids))


def _finding_grid(title: str, findings: Iterable[Finding]) -> Grid:
    return Grid(
        title,
        ("severity", "where", "explanation", "remedy"),
        tuple((found.severity.value, found.where, found.explanation, found.remedy) for found in findings),
    )


def check_table(subject: IntegritySubject, *, data: bool = True) -> IntegrityReport:
    """Look at everything; without ``data`` not at data files and deletion vectors."""
    pointer = integrity_derived.read_pointer(subject.store)
    derived, walk = _replay_subject(subject)
    while _names_unasked_coordinator(subject, walk):
        derived, walk = _replay_subject(subject)
    evidence, reached = walk.evidence, walk.reached
    files = data_files.check_data_files(walk) if data and reached is not None else _DATA_NOT_CHECKED
    books = evidence.books
    findings = [
        *(integrity.check_records(books) if books is not None else ()),
        *(_published_findings(evidence, books) if books is not None else ()),
        *walk.findings,
        *replay.check_latest(walk),
        *_decider_findings(walk),
        *_coordinator_findings(subject, walk),
        *_timestamp_findings(walk),
        *derived.findings,
        *integrity_derived.incomplete_checkpoints(evidence),
        *integrity_derived.check_pointer(evidence, pointer),
        *files.findings,
    ]
    if not _is_repairable_here(subject, walk):
        findings = [without_repair(finding) for finding in findings]
    return IntegrityReport(
        table=subject.name,
        location=subject.location,
        version=evidence.latest,
        commits=walk.commits,
        checkpoints=derived.checkpoints,
        checksums=derived.checksums,
        data_files=files.files if data else None,
        deletion_vectors=files.vectors if data else None,
        findings=tuple(_worst_first(findings)),
    )


def _replay_subject(subject: IntegritySubject) -> tuple[DerivedFileCheck, LogReplay]:
    evidence = gather_evidence(subject)
    derived = integrity_derived.begin_check(evidence)
    return derived, replay.replay_log(evidence, derived.look)


def _names_unasked_coordinator(subject: IntegritySubject, walk: LogReplay) -> bool:
    """Whether the metadata names a coordinator that was not asked yet, and can be: there may be more."""
    state = walk.reached
    return (
        subject.keeper is None
        and state is not None
        and subject.committer.follow(state.version, state.metadata)
    )


def gather_evidence(subject: IntegritySubject) -> Evidence:
    """The log as listed, and then what the catalog or the coordinator says."""
    listing = tuple(log_reader.list_log(subject.store))
    if subject.keeper is not None:
        books = subject.keeper.read()
        return Evidence(subject.store, subject.location, listing, books.latest, books.held, books)
    try:
        frontier = subject.committer.frontier()
    except (TableNotFound, *UNANSWERED_ERRORS) as exc:
        versions = [
            file.version for file in listing if file.kind in (LogFileKind.PUBLISHED, LogFileKind.CHECKPOINT)
        ]
        if not versions:
            raise
        silent = None if isinstance(exc, TableNotFound) else exc.message
        return Evidence(subject.store, subject.location, listing, max(versions), {}, unanswered=silent)
    return Evidence(
        subject.store,
        subject.location,
        listing,
        frontier.latest,
        frontier.unpublished,
        unanswered=frontier.unanswered,
    )


def _published_findings(evidence: Evidence, books: CatalogRecords) -> Iterator[Finding]:
    """What the log may have, given what is ratified and what is published."""
    listed = evidence.published()
    for file in evidence.listing:
        if file.version > books.latest:
            problem = f"version {books.latest} is the latest that was ratified"
            yield new_finding("beyond-latest", file.path, problem, version=file.version)
        elif (
            file.kind in (LogFileKind.CHECKPOINT, LogFileKind.COMPACTED)
            and file.version > books.published
            and not _is_there(evidence.store, file.version)
        ):
            problem = f"version {file.version} is not published"
            yield new_finding(
                "checkpoint-unpublished", file.path, problem, version=file.version, repairable=True
            )
    there = sorted(version for version in listed if books.published < version <= books.latest)
    missing = sorted(set(range(books.published + 1, max(there, default=0))) - set(there))
    missing = [version for version in missing if not _is_there(evidence.store, Version(version))]
    for version in missing:
        problem = f"version {max(there)} is published, version {version} is not"
        path = file_names.published_path(Version(version))
        yield new_finding("publish-order", path, problem, version=version, repairable=True)
    if there and not missing:
        problem = f"version {max(there)} is in the log, the catalog knows of {books.published}"
        yield new_finding(
            "watermark-lags",
            file_names.published_path(max(there)),
            problem,
            version=max(there),
            repairable=True,
        )


def _is_there(store: Store, version: Version) -> bool:
    try:
        store.head(file_names.published_path(version))
    except ObjectNotFound:
        return False
    return True


def _decider_findings(walk: LogReplay) -> Iterator[Finding]:
    """Whoever decides about the table must be the one that its protocol names."""
    state, books = walk.reached, walk.evidence.books
    if state is None:
        return
    if books is None:
        if state.protocol.is_catalog_managed:
            problem = f"the log reaches version {state.version}; there may be more"
            yield new_finding("managed-elsewhere", walk.evidence.location, problem, version=state.version)
        return
    if not state.protocol.is_catalog_managed:
        problem = "its protocol does not have the feature catalogManaged"
        yield new_finding(
            "not-managed", file_names.published_path(state.version), problem, version=state.version
        )
    for what in _description_differences(books, state):
        problem = f"its {what} at version {state.version} is another one in the log"
        yield new_finding(
            "description-differs", CATALOG_DATABASE, problem, version=state.version, repairable=True
        )


def _coordinator_findings(subject: IntegritySubject, walk: LogReplay) -> Iterator[Finding]:
    """Coordinator and feature go together; one that was not asked may have ratified more than is listed."""
    state = walk.reached
    if state is None:
        return
    where = file_names.published_path(state.version)
    if problem := coordinated_commits.feature_breach(state.metadata, state.protocol):
        yield new_finding("owner-without-feature", where, problem, version=state.version)
    if problem := coordinated_commits.coordinator_breach(state.metadata, state.protocol):
        yield new_finding("feature-without-owner", where, problem, version=state.version)
    named = coordinated_commits.coordinator_of(state.metadata)
    if named is None:
        return
    if subject.committer.decider(state.protocol, state.metadata) is Decider.MISSING_COORDINATOR:
        problem = (
            f"the log reaches version {state.version}; {named.name!r} may have ratified more, and nothing "
            "is repaired without it"
        )
        yield new_finding("owned-elsewhere", walk.evidence.location, problem, version=state.version)
    elif (because := walk.evidence.unanswered) is not None:
        problem = f"the log reaches version {state.version}, and {named.name!r} does not say more: {because}"
        yield new_finding("owner-silent", walk.evidence.location, problem, version=state.version)


def _timestamp_findings(walk: LogReplay) -> Iterator[Finding]:
    """A writer's clock that was far ahead has taken the time of all later versions with it."""
    state = walk.reached
    stamp = state.in_commit_timestamp if state is not None else None
    if state is None or stamp is None:
        return
    path = file_names.published_path(state.version)
    try:
        published_ms = walk.evidence.store.head(path).modified_ms
    except ObjectNotFound:
        return
    if timestamps.is_too_far_ahead(stamp, published_ms, None):
        ahead = timestamps.format_duration(stamp - published_ms)
        problem = f"version {state.version} is stamped {ahead} after its file was written"
        yield new_finding("timestamp-ahead", path, problem, version=state.version)


def _is_repairable_here(subject: IntegritySubject, walk: LogReplay) -> bool:
    """Whether this process may write what a repair writes: whoever decides must be known, and be asked."""
    if subject.keeper is not None:
        return True
    state = walk.reached
    if state is None or walk.evidence.unanswered is not None:
        return False
    decider = subject.committer.decider(state.protocol, state.metadata)
    return decider is Decider.DISPENSABLE_COORDINATOR or authority.allows_maintenance(
        Maintenance.REPAIR, decider
    )


def _description_differences(books: CatalogRecords, state: State) -> Iterator[str]:
    told = books.told
    if told is None:
        return
    pairs = (
        ("protocol", told.protocol, state.protocol),
        ("metadata", told.metadata, state.metadata),
        ("domains", told.domains, dict(state.domains)),
        ("application transactions", told.txns, dict(state.txns)),
    )
    for what, said, is_so in pairs:
        if said is not None and said != is_so:
            yield what


def _worst_first(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The worst first, and of each kind only so many."""
    order = list(Severity)
    kinds: Counter[str] = Counter()
    left: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda finding: order.index(finding.severity)):
        kinds[finding.rule] += 1
        if kinds[finding.rule] <= _MOST_OF_A_KIND:
            yield finding
        else:
            left[finding.rule] = finding
    for rule, finding in left.items():
        more = f"and {kinds[rule] - _MOST_OF_A_KIND} more of this kind"
        yield msgspec.structs.replace(finding, where="…", explanation=more, version=None)
