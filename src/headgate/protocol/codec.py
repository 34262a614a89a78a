"""Between the bytes of a commit and its actions: one JSON document a line.

Unknown actions and unknown fields are ignored on reading, as the protocol asks.
"""

from collections.abc import Iterable, Iterator

import msgspec

from headgate.errors import CorruptLog
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    Commit,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    Sidecar,
    Version,
    sort,
)


class _Line(msgspec.Struct, frozen=True):
    commitInfo: CommitInfo | None = None  # noqa: N815 — the log's own names
    protocol: Protocol | None = None
    metaData: Metadata | None = None  # noqa: N815
    add: AddFile | None = None
    remove: RemoveFile | None = None
    txn: AppTransaction | None = None
    domainMetadata: DomainMetadata | None = None  # noqa: N815
    sidecar: Sidecar | None = None

    def action(self) -> Action | None:
        return (
            self.add
            or self.remove
            or self.commitInfo
            or self.metaData
            or self.protocol
            or self.txn
            or self.domainMetadata
            or self.sidecar
        )


_ENVELOPES: tuple[tuple[type[Action], bytes], ...] = (
    (AddFile, b'{"add":'),
    (RemoveFile, b'{"remove":'),
    (CommitInfo, b'{"commitInfo":'),
    (Metadata, b'{"metaData":'),
    (Protocol, b'{"protocol":'),
    (AppTransaction, b'{"txn":'),
    (DomainMetadata, b'{"domainMetadata":'),
)
_PREFIX = dict(_ENVELOPES)
_DECODER = msgspec.json.Decoder(_Line)
_ENCODER = msgspec.json.Encoder()


def encode(actions: Iterable[Action]) -> bytes:
    """The bytes of a commit with these actions, in this order."""
    return b"".join(_PREFIX[type(action)] + _ENCODER.encode(action) + b"}\n" for action in actions)


def decode(version: Version, content: bytes) -> Commit:
    """The actions of one version; ``CorruptLog`` names the version if the bytes are no commit."""
    return sort(version, actions(version, content))


def actions(version: Version, content: bytes) -> Iterator[Action]:
    """The actions in these bytes, in order."""
    try:
        lines = _DECODER.decode_lines(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise CorruptLog(
            f"version {version} cannot be parsed: {exc}; the commit is damaged or was cut short",
            code="DELTA_TXN_LOG_FAILED_INTEGRITY",
            version=version,
        ) from exc
    return (action for line in lines if (action := line.action()) is not None)


def commit_info(version: Version, content: bytes) -> CommitInfo | None:
    """The commitInfo of one version if it is the first action, without parsing the rest."""
    first, _, _ = content.partition(b"\n")
    return decode(version, first).info
