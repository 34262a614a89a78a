"""What each process did to a table, when it began and ended, and what it was told.

A process writes down an operation before it begins and again when it ends, each with one system
call: of one that is killed in between the beginning is left, and its outcome is unknown.
"""

import functools
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path

import msgspec

FOREVER = 1 << 63
"""The end of an operation that nobody saw end."""


class Kind(Enum):
    """What an operation asks of a table."""

    APPEND = "append"
    """Become a version: proposed for one, or for whichever is next; staged or inline."""
    TAIL = "tail"
    LOAD = "load"
    PUBLISH = "publish"
    OUTCOME = "outcome"


class Told(Enum):
    """How an operation ended."""

    DONE = "done"
    LOST = "lost"
    """An append that never happened, and never will."""
    OPEN = "open"
    """An outcome: not ratified, and could still be."""
    FAILED = "failed"
    """A question without an answer."""
    UNKNOWN = "unknown"


class Begin(msgspec.Struct, frozen=True, tag="b", array_like=True):
    """An operation is about to be sent."""

    number: int
    kind: Kind
    table: int
    at: int
    txn: str = ""
    target: int = 0


class End(msgspec.Struct, frozen=True, tag="e", array_like=True):
    """It is answered: the version it became or saw, and what else it saw."""

    number: int
    told: Told
    at: int
    version: int = -1
    published: int = -1
    files: int = -1
    digest: int = 0
    txns: tuple[tuple[int, str], ...] = ()
    """The transactions it saw, by version."""


class Operation(msgspec.Struct, frozen=True):
    """One operation of one process on one table."""

    process: str
    table: int
    kind: Kind
    begin: int
    end: int
    told: Told
    txn: str = ""
    target: int = 0
    version: int = -1
    published: int = -1
    files: int = -1
    digest: int = 0
    txns: tuple[tuple[int, str], ...] = ()


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Begin | End)


class Recorder:
    """Writes down the operations of one process."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._count = 0

    def begin(self, kind: Kind, table: int, *, txn: str = "", target: int = 0) -> int:
        """An operation is about to begin; its number."""
        self._count += 1
        self._write(Begin(self._count, kind, table, time.monotonic_ns(), txn, target))
        return self._count

    def end(self, number: int, told: Told, **seen: object) -> None:
        """It has ended, just now."""
        at = time.monotonic_ns()
        self._write(End(number, told, at, **seen))  # type: ignore[arg-type]  # its own fields

    def _write(self, event: Begin | End) -> None:
        os.write(self._file, _ENCODER.encode(event) + b"\n")


def read(folder: Path) -> list[Operation]:
    """The operations of all processes that wrote down any."""
    return [
        operation for path in sorted(folder.glob("*.jsonl")) for operation in _operations(path.stem, path)
    ]


def _operations(process: str, path: Path) -> Iterator[Operation]:
    ended: dict[int, End] = {}
    begun: list[Begin] = []
    for event in _events(path.read_bytes().splitlines()):
        if isinstance(event, End):
            ended[event.number] = event
        else:
            begun.append(event)
    for begin in begun:
        end = ended.get(begin.number)
        if end is None:
            yield Operation(
                process, begin.table, begin.kind, begin.at, FOREVER, Told.UNKNOWN, begin.txn, begin.target
            )
            continue
        yield Operation(
            process, begin.table, begin.kind, begin.at, end.at, end.told, begin.txn, begin.target,
            end.version, end.published, end.files, end.digest, end.txns,
        )  # fmt: skip


def _events(lines: Iterable[bytes]) -> Iterator[Begin | End]:
    for line in lines:
        try:
            yield _DECODER.decode(line)
        except msgspec.DecodeError:  # cut short by a kill
            return


@functools.cache
def digest(file: str) -> int:
    """A number for a file; that of a set of files is their sum, in any order."""
    return int.from_bytes(hashlib.blake2b(file.encode(), digest_size=8).digest())


def total(digests: Iterable[int]) -> int:
    """The digest of a set."""
    return sum(digests) & 0xFFFF_FFFF_FFFF_FFFF
