"""Who decides where others may publish versions themselves? The log: whoever creates the file of a version.

The catalog decides on paper what would become of a proposal, and then creates ``<v>.json`` itself, which
either succeeds or finds out who was faster. What is in the file then is taken in like any version of others
(``external_commits``), as the proposer's own if it is theirs.

``stock`` is at version 8 and another engine creates ``00000000000000000009.json`` a moment before the
catalog. A blind append takes that in as version 9 and goes on with 10; an overwrite has lost.
"""

from dataclasses import dataclass, replace

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.commits import InlineCommit, Lost, Ratified, RatifiedCommit, Unknown
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.ratification import external_commits, ratify
from headgate.catalog.ratification.external_commits import ExternalCommitImporter
from headgate.catalog.ratification.ratify import Candidate, RatificationTerms, VersionTaken
from headgate.catalog.store import commit_store
from headgate.errors import (
    CatalogError,
    CatalogUnavailable,
    CommitUnknown,
    HeadgateError,
    NotAllowed,
    ObjectExists,
    StorageUnavailable,
)
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.store import Store

_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class SharedLogRatifier:
    """Ratifies by creating published files, for tables whose log is shared."""

    database: Database
    terms: RatificationTerms
    importer: ExternalCommitImporter

    def ratify(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | Unknown:
        """Create the file of the version that the candidate would be, until one is created or it has lost."""
        proposal, importer = candidate.proposal, self.importer
        for _ in range(_ATTEMPTS):
            answer = self._plan(candidate)
            if not isinstance(answer, tuple):
                return answer
            location, record = answer
            version, where = record.commit.version, record.commit.where
            content = where.content if isinstance(where, InlineCommit) else candidate.content
            try:
                ours = _create_published_file(importer.probe.files(location), version, content)
                origin = external_commits.unknown_origin(candidate)
                known = importer.import_version(proposal.table_id, version, origin=origin, mine=candidate)
            except NotAllowed:
                raise
            except (StorageUnavailable, CatalogError, CommitUnknown) as exc:
                return Unknown(f"version {version} may be in the log by now: {exc.message}")
            if not known:
                raise external_commits.occupied_version_error(version)
            if ours:
                return Ratified(version)
        raise CatalogUnavailable("others were faster every time: try again")

    def _plan(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | tuple[str, StoredCommit]:
        """What the candidate would be in a log of its own, and where that log is; nothing is written."""
        proposal, terms = candidate.proposal, self.terms
        with self.database.reading() as db:
            found = external_commits.require_known_table(db, proposal.table_id, proposal.txn_id)
            first = found.first_ratified_as
            known = {} if first is None else {proposal.txn_id: first}
            gate = ratify.open_gate(db, proposal.table_id, found, [proposal.txn_id], terms.partitionings)
            alone = replace(found.head, shares_log=False)
            now_ms = None if terms.now_ms is None else terms.now_ms()
            made = ratify.plan_candidates(alone, known, [candidate], terms.limits, gate, now_ms)
            match made.answers[0]:
                case HeadgateError() as error:
                    raise error
                case VersionTaken():
                    return Lost(
                        commit_store.commits_from(
                            db, proposal.table_id, proposal.target, found.head.published
                        )
                    )
                case Ratified() as ratified:
                    return (found.location, made.records[0]) if made.records else ratified


def _create_published_file(files: Store, version: Version, content: bytes) -> bool:
    """Create the published file of a version; whether it has this content, from now or from before."""
    path = file_names.published_path(version)
    try:
        files.put_if_absent(path, content)
    except ObjectExists:
        return files.read(path) == content
    return True
