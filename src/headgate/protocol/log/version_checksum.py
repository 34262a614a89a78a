"""The checksum of a version: what it should add up to, in one small JSON file beside the log.

Reading tolerates what other writers leave out. An absent list of domains or application
transactions is not an empty one: writers omit long lists.

``00000000000000000003.crc`` of a table of two files with 900 bytes is one line, here shortened:

    {"tableSizeBytes":900,"numFiles":2,"numMetadata":1,"numProtocol":1,"setTransactions":[],
     "domainMetadata":[{"domain":"acme.mark","configuration":"100","removed":false}],
     "metadata":{…},"protocol":{…}}

Version 4 removes a file of 300 bytes and adds one of 400, so its totals are two files with 1,000 bytes,
found without a look at the live files.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from typing_extensions import override

from headgate.protocol.actions import (
    AppTransaction,
    Commit,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    Metadata,
    Protocol,
    TxnId,
    Version,
)
from headgate.protocol.log.normal_form import normal_form
from headgate.protocol.log.replay import State, advance

MAX_DOMAINS = 10
MAX_TXNS = 100


class Checksum(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The content of ``<version>.crc``."""

    txn_id: TxnId | None = None
    table_size_bytes: int
    num_files: int
    num_metadata: int
    num_protocol: int
    in_commit_timestamp_opt: EpochMillis | None = None
    set_transactions: tuple[AppTransaction, ...] | None = None
    domain_metadata: tuple[DomainMetadata, ...] | None = None
    metadata: Metadata
    protocol: Protocol


@dataclass(frozen=True, slots=True)
class FileTotals:
    """How many files are live, and how large they are together."""

    files: int
    size_bytes: int


NO_FILES = FileTotals(0, 0)
_DECODER = msgspec.json.Decoder(Checksum)


def parse(content: bytes) -> Checksum | None:
    """The checksum in these bytes; None if they are none, which is as good as no checksum."""
    try:
        return _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def render(checksum: Checksum) -> bytes:
    """The bytes of a checksum file."""
    return msgspec.json.encode(checksum)


def build_checksum(state: State, found: FileTotals) -> Checksum:
    """The checksum of a version."""
    stamped = state.has_in_commit_timestamps
    return Checksum(
        txn_id=state.info.txn_id if state.info else None,
        table_size_bytes=found.size_bytes,
        num_files=found.files,
        num_metadata=1,
        num_protocol=1,
        in_commit_timestamp_opt=state.in_commit_timestamp if stamped else None,
        set_transactions=_unless_long(state.txns, MAX_TXNS),
        domain_metadata=_unless_long(state.domains, MAX_DOMAINS),
        metadata=state.metadata,
        protocol=state.protocol,
    )


def _unless_long(found: Mapping[str, Any], most: int) -> tuple[Any, ...] | None:
    return tuple(found.values()) if len(found) <= most else None


def state_from_checksum(version: Version, checksum: Checksum) -> State | None:
    """All a checksum says besides the files; None if it leaves out something that the state needs."""
    if checksum.set_transactions is None or checksum.domain_metadata is None:
        return None
    info = CommitInfo(in_commit_timestamp=checksum.in_commit_timestamp_opt, txn_id=checksum.txn_id)
    told = State(
        version,
        checksum.protocol,
        checksum.metadata,
        info,
        txns={txn.app_id: txn for txn in checksum.set_transactions},
        domains={domain.domain: domain for domain in checksum.domain_metadata if not domain.removed},
    )
    promised = told.has_in_commit_timestamps and checksum.in_commit_timestamp_opt is None
    return None if promised else told


def totals_from_checksum(checksum: Checksum) -> FileTotals:
    """What a checksum says of the files."""
    return FileTotals(checksum.num_files, checksum.table_size_bytes)


def totals_after(before: FileTotals, commit: Commit) -> FileTotals | None:
    """The totals after one more commit, or None if only the live files themselves can tell.

    That is so when a removed file's size is not in the log, and when files are described anew
    without being removed first, as by a commit that recomputes statistics.
    """
    sizes = [remove.size for remove in commit.removes]
    described_anew = not commit.removes and any(not add.data_change for add in commit.adds)
    if None in sizes or described_anew:
        return None
    removed = sum(size for size in sizes if size is not None)
    return FileTotals(
        before.files + len(commit.adds) - len(sizes),
        before.size_bytes + sum(add.size for add in commit.adds) - removed,
    )


def advance_totals(
    known: State, before: FileTotals, commits: Iterable[Commit]
) -> tuple[State, FileTotals] | None:
    """State and totals after some commits, or None if the totals cannot be told without the files."""
    for commit in commits:
        following = totals_after(before, commit)
        if following is None:
            return None
        known, before = advance(known, commit), following
    return known, before


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A field in which a checksum and the table differ."""

    field: str
    recorded: object
    found: object

    @override
    def __str__(self) -> str:
        return f"{self.field} is {self.found} where the checksum says {self.recorded}"


def compare_checksums(recorded: Checksum, found: Checksum) -> tuple[Discrepancy, ...]:
    """Where the recorded checksum and one made from the log differ; what it does not say cannot differ."""
    return tuple(
        Discrepancy(msgspec.structs.fields(Checksum)[at].encode_name, said, is_so)
        for at, (said, is_so) in enumerate(_pairs(recorded, found))
        if said is not None
        and is_so is not None
        and said != is_so
        and _comparable(said) != _comparable(is_so)
    )


def _pairs(recorded: Checksum, found: Checksum) -> Iterator[tuple[object, object]]:
    for name in Checksum.__struct_fields__:
        yield getattr(recorded, name), getattr(found, name)


def _comparable(value: object) -> object:
    """As a comparison sees it: lists in any order, domains that were removed as absent."""
    match value:
        case tuple():
            return {_identity(item): item for item in value if not _is_removed(item)}
        case Metadata() | Protocol():
            return normal_form(value)
        case _:
            return value


def _identity(item: AppTransaction | DomainMetadata) -> str:
    return item.app_id if isinstance(item, AppTransaction) else item.domain


def _is_removed(item: AppTransaction | DomainMetadata) -> bool:
    return isinstance(item, DomainMetadata) and item.removed
