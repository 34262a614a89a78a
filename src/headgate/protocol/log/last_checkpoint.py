"""The pointer to the last checkpoint: ``_last_checkpoint``, with a checksum of its own."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from headgate.protocol.actions import EpochMillis, Version


class V2Checkpoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The file of a checkpoint whose name cannot be guessed."""

    path: str
    size_in_bytes: int
    modification_time: EpochMillis


class LastCheckpoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the pointer says."""

    version: Version
    size: int
    size_in_bytes: int
    num_of_add_files: int
    v2_checkpoint: V2Checkpoint | None = None


def render(pointer: LastCheckpoint) -> bytes:
    """The bytes of ``_last_checkpoint``."""
    plain = msgspec.to_builtins(pointer)
    return msgspec.json.encode({**plain, "checksum": checksum(plain)})


def checksum(content: Mapping[str, Any]) -> str:
    """The MD5 of the canonical form (spec: json-checksum)."""
    return hashlib.md5(canonical_form(content).encode(), usedforsecurity=False).hexdigest()


def canonical_form(content: Mapping[str, Any]) -> str:
    """Each value with the path that leads to it, sorted by path."""
    plain = {key: value for key, value in content.items() if key != "checksum"}
    return ",".join(f"{path}={value}" for path, value in sorted(_leaves(plain, ())))


def _leaves(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    match node:
        case Mapping():
            for key, value in node.items():
                yield from _leaves(value, (*path, _quoted(key)))
        case str():
            yield "+".join(path), _quoted(node)
        case Sequence():
            for at, value in enumerate(node):
                yield from _leaves(value, (*path, str(at)))
        case _:
            yield "+".join(path), msgspec.json.encode(node).decode()


def _quoted(text: str) -> str:
    return f'"{quote(text, safe="")}"'
