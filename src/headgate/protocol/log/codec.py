"""Between the bytes of a commit and its actions: one JSON document a line.

Unknown actions and unknown fields are ignored on reading, as the protocol asks. So is what a commit says of
itself in other types than those known here: the protocol lets a commitInfo be any JSON.

    {"commitInfo":{"operation":"WRITE","txnId":"t"}}
    {"add":{"path":"a","partitionValues":{},"size":5,"modificationTime":1,"dataChange":true,"later":0}}
    {"future":{}}

``decode(7, …)`` gives ``Commit(version=7, info=CommitInfo(…), adds=(AddFile(path="a", …),))``: ``later`` and
``future`` are nowhere in it. ``encode(commit.adds)`` gives the second line, without ``later``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from headgate.errors import CorruptLog
from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    AppTransaction,
    Commit,
    CommitInfo,
    Damage,
    DomainMetadata,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
    Sidecar,
    Version,
    commit_from_actions,
)


class _ChangeLine(msgspec.Struct, frozen=True, gc=False):
    """A line as far as it changes the table: what a commit says of itself is not even parsed."""

    protocol: Protocol | None = None
    metaData: Metadata | None = None  # noqa: N815 — the log's own names
    add: AddFile | None = None
    remove: RemoveFile | None = None
    txn: AppTransaction | None = None
    domainMetadata: DomainMetadata | None = None  # noqa: N815

    def action(self) -> Action | None:
        return self.add or self.remove or self.metaData or self.protocol or self.txn or self.domainMetadata


class _NonFileLine(msgspec.Struct, frozen=True, gc=False):
    """A line as far as it is not about files."""

    commitInfo: CommitInfo | None = None  # noqa: N815
    protocol: Protocol | None = None
    metaData: Metadata | None = None  # noqa: N815
    txn: AppTransaction | None = None
    domainMetadata: DomainMetadata | None = None  # noqa: N815

    def action(self) -> Action | None:
        return self.commitInfo or self.metaData or self.protocol or self.txn or self.domainMetadata


class _FileLine(msgspec.Struct, frozen=True, gc=False):
    """A line as far as it is about a file of the table."""

    add: AddFile | None = None
    remove: RemoveFile | None = None

    def action(self) -> Action | None:
        return self.add or self.remove


class _CdcLine(msgspec.Struct, frozen=True, gc=False):
    cdc: AddCdcFile | None = None

    def action(self) -> Action | None:
        return self.cdc


class _ActionLine(msgspec.Struct, frozen=True, gc=False):
    commitInfo: CommitInfo | None = None  # noqa: N815
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
    (AddCdcFile, b'{"cdc":'),
)
_PREFIX = dict(_ENVELOPES)
_LINES = msgspec.json.Decoder(_ActionLine)
_CHANGES = msgspec.json.Decoder(_ChangeLine)
_NON_FILE_ACTIONS = msgspec.json.Decoder(_NonFileLine)
_FILES = msgspec.json.Decoder(_FileLine)
_CDC = msgspec.json.Decoder(_CdcLine)
_ENVELOPED = msgspec.json.Decoder(dict[str, msgspec.Raw])
_INFO = "commitInfo"
_ENCODER = msgspec.json.Encoder()


def encode(actions: Iterable[Action]) -> bytes:
    """The bytes of a commit with these actions, in this order."""
    return b"".join(_PREFIX[type(action)] + _ENCODER.encode(action) + b"}\n" for action in actions)


def decode(version: Version, content: bytes) -> Commit:
    """The actions of one version; ``CorruptLog`` names the version if the bytes are no commit."""
    return commit_from_actions(version, decode_actions(version, content))


def decode_without_files(version: Version, content: bytes) -> Commit:
    """The actions of one version without its files, which are not even parsed.

    As in ``decode_folded``, a damaged protocol or metaData is an action too.
    """
    return commit_from_actions(version, _parse(_NON_FILE_ACTIONS, version, content, damaged=True))


def decode_actions(version: Version, content: bytes) -> list[Action]:
    """The actions in these bytes, in order."""
    return _parse(_LINES, version, content)


def decode_file_actions(version: Version, content: bytes) -> list[Action]:
    """The adds and removes in these bytes, in order."""
    return _parse(_FILES, version, content)


def decode_changes(version: Version, content: bytes) -> list[Action]:
    """The actions in these bytes that change the table, in order."""
    return _parse(_CHANGES, version, content)


def decode_folded(contents: Iterable[tuple[Version, bytes]]) -> Iterator[Commit]:
    """What consecutive versions do, in few commits: all that a reader of the last version needs.

    A commit stands for several versions as long as none of them removes a file that one before it
    may have added. Only the last commit has a commitInfo: that of the last version. A protocol or
    metaData that is damaged, and says so, does no harm if another one follows.
    """
    pending: list[Action] = []
    last: tuple[Version, bytes] | None = None
    for version, content in contents:
        found = _parse(_CHANGES, version, content, damaged=True)
        if last is not None and RemoveFile in map(type, found):
            yield commit_from_actions(last[0], pending)
            pending = []
        pending += found
        last = version, content
    if last is not None:
        yield replace(
            commit_from_actions(last[0], pending),
            info=decode_commit_info(*last) or decode_without_files(*last).info,
        )


def _parse(
    decoder: msgspec.json.Decoder[_ActionLine]
    | msgspec.json.Decoder[_ChangeLine]
    | msgspec.json.Decoder[_NonFileLine]
    | msgspec.json.Decoder[_FileLine]
    | msgspec.json.Decoder[_CdcLine],
    version: Version,
    content: bytes,
    *,
    damaged: bool = False,
) -> list[Action]:
    try:
        try:
            lines = decoder.decode_lines(content)
        except msgspec.ValidationError:
            content = _with_readable_commit_info(content)
            if damaged:
                return _with_damage(decoder, content)
            lines = decoder.decode_lines(content)
        return [action for line in lines if (action := line.action()) is not None]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise CorruptLog(
            f"version {version} cannot be parsed: {exc}; the commit is damaged or was cut short",
            code="DELTA_TXN_LOG_FAILED_INTEGRITY",
            version=version,
        ) from exc


def _with_damage(decoder: msgspec.json.Decoder[Any], content: bytes) -> list[Action]:
    """The actions of lines, where a protocol or metaData may be damaged."""
    found: list[Action] = []
    for line in _ENVELOPED.decode_lines(content):
        action = _damage(line) or decoder.decode(_ENCODER.encode(line)).action()
        if action is not None:
            found.append(action)
    return found


def _damage(line: Mapping[str, msgspec.Raw]) -> Action | None:
    try:
        if "metaData" in line:
            msgspec.json.decode(line["metaData"], type=Metadata | None)
        elif "protocol" in line:
            msgspec.json.decode(line["protocol"], type=Protocol | None)
    except msgspec.ValidationError as exc:
        return damaged_metadata(exc) if "metaData" in line else damaged_protocol(exc)
    return None


def damaged_metadata(why: Exception) -> Metadata:
    """What stands for a metaData that cannot be used."""
    return Metadata(
        id="", format=Format(provider="", options={}), schema_string="", partition_columns=(),
        configuration={}, damage=Damage(str(why)),
    )  # fmt: skip


def damaged_protocol(why: Exception) -> Protocol:
    """What stands for a protocol that cannot be used."""
    return Protocol(min_reader_version=0, min_writer_version=0, damage=Damage(str(why)))


def _with_readable_commit_info(content: bytes) -> bytes:
    """The same lines, where a commitInfo has only the fields that have the types known here."""
    lines = _ENVELOPED.decode_lines(content)
    fitting = ({**line, _INFO: _readable_fields(line[_INFO])} if _INFO in line else line for line in lines)
    return _ENCODER.encode_lines(fitting)


def _readable_fields(info: msgspec.Raw) -> dict[str, Any] | None:
    match msgspec.json.decode(info):
        case dict(said):
            return {name: value for name, value in said.items() if _is_readable(name, value)}
        case None:
            return None
        case _:
            return {}


def _is_readable(name: str, value: Any) -> bool:
    try:
        msgspec.convert({name: value}, CommitInfo)
    except msgspec.ValidationError:
        return False
    return True


def decode_cdc_files(version: Version, content: bytes) -> list[AddCdcFile]:
    """The files with changed rows that one version names."""
    return [action for action in _parse(_CDC, version, content) if isinstance(action, AddCdcFile)]


def decode_commit_info(version: Version, content: bytes) -> CommitInfo | None:
    """The commitInfo of one version if it is the first action; the rest is parsed only if it must be."""
    first, _, _ = content.partition(b"\n")
    try:
        return decode_without_files(version, first).info
    except CorruptLog:  # an action may stretch over several lines in commits of careless writers
        return decode_without_files(version, content).info
