"""What the content of a proposal must satisfy before it can be ratified."""

from dataclasses import dataclass

import msgspec

from headgate.catalog.api import Inline, Proposal, Staged
from headgate.errors import CorruptLog, InvalidRequest
from headgate.protocol import codec, names
from headgate.protocol.actions import Commit, EpochMillis

_NAME_RULE = "<20-digit version>.<uuid>.json"


def check_name(proposal: Proposal) -> None:
    """Refuse a staged file whose name is not that of a staged commit of the proposed version (T1, T2)."""
    match proposal.content:
        case Staged(file_name) if names.staged_version(file_name) != proposal.target:
            raise InvalidRequest(
                f"{file_name!r} is not the name of a staged commit of version {proposal.target}: "
                f"it must be {_NAME_RULE}",
                file_name=file_name,
            )
        case _:
            return


@dataclass(frozen=True, slots=True)
class Checked:
    """What the catalog needs to know of a proposal's content."""

    timestamp: EpochMillis
    changes_table: bool
    """Whether it does more than add and remove files."""
    commit: Commit


def check_content(proposal: Proposal, content: bytes) -> Checked:
    """The facts of a proposal's content, after checking that its first action identifies it."""
    try:
        info = codec.commit_info(proposal.target, content)
        commit = codec.decode(proposal.target, content)
    except CorruptLog as exc:
        raise InvalidRequest(f"the proposed commit cannot be parsed: {exc.message}") from exc
    if info is None:
        raise InvalidRequest("a commit must begin with a commitInfo action", code="DELTA_MISSING_COMMIT_INFO")
    if info.in_commit_timestamp is None:
        raise InvalidRequest(
            "commitInfo must have an inCommitTimestamp on a catalog-managed table",
            code="DELTA_MISSING_COMMIT_TIMESTAMP",
        )
    if info.txn_id != proposal.txn_id:
        raise InvalidRequest(
            f"commitInfo.txnId is {info.txn_id!r} but the proposal's is {proposal.txn_id!r}: they must agree"
        )
    file_actions = len(commit.adds) + len(commit.removes)
    # What we do not know might be anything, so only a commit of nothing but files counts as one.
    changes_table = 1 + file_actions != len(content.splitlines())
    if proposal.any_version and (changes_table or commit.removes or not isinstance(proposal.content, Inline)):
        raise InvalidRequest(
            "only an inline commit that adds files and does nothing else may leave its version open"
        )
    return Checked(info.in_commit_timestamp, changes_table, commit)


def with_timestamp(content: bytes, timestamp: EpochMillis) -> bytes:
    """The same commit, stamped anew."""
    first, _, rest = content.partition(b"\n")
    line = msgspec.json.decode(first)
    line["commitInfo"]["inCommitTimestamp"] = timestamp
    return msgspec.json.encode(line) + b"\n" + rest


def check_timestamp(proposed: EpochMillis, latest: EpochMillis) -> None:
    """Refuse a timestamp that does not come after the latest commit's (I8)."""
    if proposed <= latest:
        raise InvalidRequest(
            f"inCommitTimestamp {proposed} does not come after {latest}, that of the latest commit"
        )
