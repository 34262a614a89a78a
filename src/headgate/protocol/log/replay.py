"""The small state of a table: what the commits say besides which files are live.

State after version 3 has the domain ``acme.mark``. Version 4 brings another domain and a batch of a stream:

    {"domainMetadata":{"domain":"b","configuration":"2","removed":false}}
    {"txn":{"appId":"s","version":9}}

After it ``domains`` has both, ``txns`` has ``s`` with 9, ``info`` is what version 4 says of itself, and
protocol and metadata are those of version 3, because version 4 does not speak of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headgate.errors import CorruptLog
from headgate.protocol import property_values
from headgate.protocol.actions import (
    AppTransaction,
    Commit,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    Metadata,
    Protocol,
    Version,
)
from headgate.protocol.domains import rules


@dataclass(frozen=True, slots=True)
class State:
    """Protocol, metadata, application transactions, domains and the commitInfo of one version."""

    version: Version
    protocol: Protocol
    metadata: Metadata
    info: CommitInfo | None
    txns: Mapping[str, AppTransaction] = field(default_factory=dict)
    domains: Mapping[str, DomainMetadata] = field(default_factory=dict)

    @property
    def in_commit_timestamp(self) -> EpochMillis | None:
        return self.info.in_commit_timestamp if self.info else None

    @property
    def has_in_commit_timestamps(self) -> bool:
        return property_values.flag(self.metadata, property_values.IN_COMMIT_TIMESTAMPS)


def initial_state(commit: Commit) -> State:
    """The state after version 0, which must set the protocol and the metadata."""
    if commit.protocol is None or commit.metadata is None:
        absent = "protocol" if commit.protocol is None else "metaData"
        raise CorruptLog(
            f"version {commit.version} starts the log without a {absent} action",
            code="DELTA_STATE_RECOVER_ERROR",
            version=commit.version,
        )
    empty = State(commit.version, commit.protocol, commit.metadata, None)
    return advance(empty, commit)


def advance(state: State, commit: Commit) -> State:
    """The state after one more commit."""
    return replace(
        state,
        version=commit.version,
        protocol=commit.protocol or state.protocol,
        metadata=commit.metadata or state.metadata,
        info=commit.info,
        txns={**state.txns, **{txn.app_id: txn for txn in commit.txns}} if commit.txns else state.txns,
        domains=rules.apply_domain_actions(state.domains, commit.domains)
        if commit.domains
        else state.domains,
    )


def check_usable(state: State) -> State:
    """The same state; ``CorruptLog`` if the protocol or the metadata that count in it are damaged."""
    for name, action in (("protocol", state.protocol), ("metaData", state.metadata)):
        if action.damage is not None:
            raise CorruptLog(
                f"the {name} action that counts at version {state.version} is damaged: {action.damage}; have "
                "the writer of the table write it again, or read a version before it",
                code="DELTA_STATE_RECOVER_ERROR", version=state.version,
            ) from action.damage  # fmt: skip
    return state
