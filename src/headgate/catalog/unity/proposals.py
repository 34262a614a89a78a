"""Did this server ratify that commit? What it answered, and what is in the log where it did not.

Some servers take a repeated request for the first, some for a conflict, and some ratified what they answered
with an error. So nothing is concluded from how a repetition is answered: the table is loaded, and the commits
at and after the version that was proposed are read. The one with our transaction's id is ours.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from headgate.catalog.ports.commits import (
    InlineCommit,
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    StagedCommit,
    Unknown,
)
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.unity.http_calls import Answered, NoAnswer
from headgate.catalog.unity.refusals import refusal
from headgate.catalog.unity.table_api import TableApi, UnityProposal, UnityTableState
from headgate.clock import World
from headgate.errors import CatalogUnavailable, CorruptLog, InvalidRequest, ObjectNotFound, StorageError
from headgate.protocol.actions import Commit, CommitInfo, EpochMillis, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store

_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class UnityProposals:
    """Proposes commits of one table, and finds out what became of them."""

    api: TableApi
    load: Callable[[], UnityTableState]
    store: Store
    world: World

    def propose(self, table: TableEntry, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        """Stage the content if it is not, ask for the version, and make sense of the answer."""
        staged, content = self._stage(proposal)
        commit = _checked(proposal, content)
        asked = UnityProposal(proposal.target, staged, len(content), EpochMillis(self.world.now_ms()), commit)
        before: Mapping[str, str] = self.load().properties if commit.metadata is not None else {}
        answered = self.api.commit(table, asked, before)
        if isinstance(answered, NoAnswer):
            return Unknown(answered.reason)
        if answered.is_success:
            return Ratified(proposal.target)
        if answered.is_failure:
            return Unknown(f"{refusal(answered, f'version {proposal.target} of {table.name}').message}")
        if answered.status != _CONFLICT:
            self._discard(proposal, staged)
            raise refusal(answered, f"version {proposal.target} of {table.name}")
        return self._lost_or_ours(table, proposal, staged)

    def _lost_or_ours(
        self, table: TableEntry, proposal: Proposal, staged: StagedCommit
    ) -> Ratified | Lost[RatifiedCommit]:
        found = self.outcome(proposal.txn_id, proposal.target)
        if isinstance(found, Ratified | Lost):
            if not self._is_ratified(staged, proposal.target):
                self._discard(proposal, staged)
            return found
        self._discard(proposal, staged)
        raise CatalogUnavailable(
            f"the server reports a conflict about version {proposal.target} of {table.name}, and nobody has "
            "that version; nothing was changed: try again"
        )

    def outcome(self, txn_id: TxnId, target: Version) -> Outcome[RatifiedCommit]:
        """What became of a transaction that was proposed as this version, by the commits that there are."""
        state = self.load()
        if state.tail.latest < target:
            return Open()
        winners = tuple(self.read_from(state, target))
        ours = next((each.version for each in winners if each.txn_id == txn_id), None)
        return Lost(winners) if ours is None else Ratified(ours)

    def read_from(self, state: UnityTableState, start: Version) -> list[RatifiedCommit]:
        """The commits from a version on, each with its content and the transaction that it names."""
        held = {commit.version: commit for commit in state.tail.commits}
        return [
            self._read(Version(number), held.get(Version(number)))
            for number in range(start, state.tail.latest + 1)
        ]

    def _read(self, version: Version, held: RatifiedCommit | None) -> RatifiedCommit:
        content = _content_of(self.store, version, held)
        info = codec.decode_commit_info(version, content) or codec.decode(version, content).info
        info = info or CommitInfo()
        txn_id = info.txn_id or (held.txn_id if held is not None else TxnId(""))
        timestamp = info.in_commit_timestamp or (held.in_commit_timestamp if held is not None else 0)
        return RatifiedCommit(version, txn_id, EpochMillis(timestamp), InlineCommit(content))

    def check_published(self, state: UnityTableState, version: Version) -> Version | None:
        """The last version up to here that is in the log exactly as it was ratified and not reported yet.

        A server believes what it is told, and forgets the staged file: so a file that is another one must
        never be reported, or the version would be lost.
        """
        reached = None
        for commit in state.tail.commits:
            if commit.version > version:
                break
            path = file_names.published_path(commit.version)
            try:
                published = self.store.read(path)
            except ObjectNotFound as exc:
                raise InvalidRequest(
                    f"version {commit.version} is not published: publish it first", version=commit.version
                ) from exc
            if published != _content_of(self.store, commit.version, commit):
                raise CorruptLog(
                    f"{path} differs from the ratified version {commit.version}, so the server is not told "
                    "that it is published: find out who wrote it, move it away and publish again",
                    code="DELTA_TXN_LOG_FAILED_INTEGRITY", version=commit.version,
                )  # fmt: skip
            reached = commit.version
        return reached

    def _stage(self, proposal: Proposal) -> tuple[StagedCommit, bytes]:
        if isinstance(proposal.content, StagedCommit):
            try:
                return proposal.content, self.store.read(proposal.content.path)
            except ObjectNotFound as exc:
                raise InvalidRequest(
                    f"the staged commit {proposal.content.file_name!r} does not exist: stage it first"
                ) from exc
        content = proposal.content.content
        _checked(proposal, content)
        staged = StagedCommit(file_names.staged_file_name(proposal.target, self.world.uuid()))
        self.store.put(staged.path, content)
        return staged, content

    def _is_ratified(self, staged: StagedCommit, target: Version) -> bool:
        held = {commit.version: commit.where for commit in self.load().tail.commits}
        return held.get(target, staged) == staged

    def _discard(self, proposal: Proposal, staged: StagedCommit) -> None:
        """Delete what was staged here for this request alone, once it is certain that it was refused."""
        if isinstance(proposal.content, InlineCommit):
            with suppress(StorageError):
                self.store.delete(staged.path)


def _content_of(store: Store, version: Version, held: RatifiedCommit | None) -> bytes:
    """The bytes of a version: its staged file while the server names one, else the published file."""
    where = held.where if held is not None else None
    if not isinstance(where, StagedCommit):
        return store.read(file_names.published_path(version))
    try:
        return store.read(where.path)
    except ObjectNotFound as exc:
        raise CorruptLog(
            f"version {version} is ratified, but its staged file {where.file_name} is gone; nothing else is "
            "read in its place",
            version=version,
        ) from exc


def _checked(proposal: Proposal, content: bytes) -> Commit:
    """The commit that a server which reads none is asked to ratify, if it is one."""
    try:
        commit = codec.decode(proposal.target, content)
    except CorruptLog as exc:
        raise InvalidRequest(f"this is no commit: {exc.message}") from exc
    info = commit.info
    if info is None or info.txn_id != proposal.txn_id or info.in_commit_timestamp is None:
        raise InvalidRequest(
            "a commit begins with a commitInfo that has its txnId and an inCommitTimestamp: this one does not"
        )
    if isinstance(proposal.content, StagedCommit) and (
        file_names.staged_version(proposal.content.file_name) != proposal.target
    ):
        raise InvalidRequest(
            f"{proposal.content.file_name!r} is not the name of a staged commit of version {proposal.target}"
        )
    return commit


def require_success(answered: Answered, asked: str) -> None:
    """An answer to what may be asked again, as an error if it is not success."""
    if isinstance(answered, NoAnswer) or answered.is_failure:
        reason = answered.reason if isinstance(answered, NoAnswer) else f"status {answered.status}"
        raise CatalogUnavailable(f"{asked} was not answered ({reason}): try again in a moment")
    if not answered.is_success:
        raise refusal(answered, asked)
