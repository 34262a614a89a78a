"""Are these bytes a commit to the letter: one known action on every line, and nothing a reader could misread?

Reading a log is lenient, since what is there is there (``codec``). What is about to enter a log is not:
every reader must see in it what was checked here.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
)
from headgate.protocol.stats import record_counts

MAX_JSON_DEPTH = 64
"""How deep JSON may be nested in a line."""

_OPENING, _CLOSING = "[{", "]}"


@dataclass(frozen=True, slots=True)
class Breach:
    """What is wrong, in which line and with which action; line 0 means the commit as a whole."""

    line: int
    kind: str
    why: str
    code: str | None = None
    """Delta's code for it, where it is not the one of the rule."""


class _StrictLine(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    add: AddFile | None = None
    remove: RemoveFile | None = None
    commitInfo: CommitInfo | None = None  # noqa: N815 — the log's own names
    metaData: Metadata | None = None  # noqa: N815
    protocol: Protocol | None = None
    txn: AppTransaction | None = None
    domainMetadata: DomainMetadata | None = None  # noqa: N815
    cdc: AddCdcFile | None = None


ACTION_NAMES: dict[type[Action], str] = {
    AddFile: "add",
    RemoveFile: "remove",
    CommitInfo: "commitInfo",
    Metadata: "metaData",
    Protocol: "protocol",
    AppTransaction: "txn",
    DomainMetadata: "domainMetadata",
    AddCdcFile: "cdc",
}
"""The kinds of actions a commit may have, by the log's names for them."""

_LINES = msgspec.json.Decoder(_StrictLine)


def parse(content: bytes) -> tuple[Action, ...] | Breach:
    """The actions, one a line, so that the n-th is in line n; or what is wrong with the first bad line."""
    lines = content.removesuffix(b"\n").split(b"\n")
    actions: list[Action] = []
    for number, line in enumerate(lines, 1):
        found = _action(line)
        if isinstance(found, str):
            return Breach(number, "", found)
        actions.append(found)
    if not _has_unique_keys(content, actions):
        for number, (line, action) in enumerate(zip(lines, actions, strict=True), 1):
            if twice := duplicate_key(line):
                return Breach(number, ACTION_NAMES[type(action)], f"{twice!r} is there twice")
    return tuple(actions)


def json_depth(text: str) -> int:
    """How deep the JSON text is nested, which need not be whole; what stands in strings does not count."""
    deepest = level = 0
    in_string = escaped = False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in _OPENING:
            level += 1
            deepest = max(deepest, level)
        elif character in _CLOSING:
            level -= 1
    return deepest


def is_too_deep(text: str) -> bool:
    """Whether it is nested more than ``MAX_JSON_DEPTH`` levels."""
    return text.count("{") + text.count("[") > MAX_JSON_DEPTH and json_depth(text) > MAX_JSON_DEPTH


def _action(line: bytes) -> Action | str:
    if line.count(b"{") + line.count(b"[") > MAX_JSON_DEPTH and is_too_deep(line.decode(errors="replace")):
        return f"it is nested more than {MAX_JSON_DEPTH} levels deep"
    if line.find(b"\r", 0, len(line) - 1) >= 0:
        return "it has a carriage return, at which some readers begin another line"
    try:
        line.decode()  # which parsing does not do with what it skips
        given = [part for part in msgspec.structs.astuple(_LINES.decode(line)) if part is not None]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        return f"it is not one action in one line of JSON: {exc}"
    if len(given) != 1:
        return f"it has {len(given)} actions instead of one"
    action: Action = given[0]
    odd = _stats_problem(action.stats) if isinstance(action, AddFile) else None
    return action if odd is None else f"its statistics are no JSON object as readers expect it: {odd}"


def _stats_problem(stats: str | None) -> str | None:
    if stats is not None and is_too_deep(stats):
        return f"they are nested more than {MAX_JSON_DEPTH} levels deep"
    return record_counts.stats_problem(stats)


def _has_unique_keys(content: bytes, actions: Sequence[Action]) -> bool:
    """Whether no object can have a name twice, which is so for most commits, and quickly told.

    Of two that are the same only one is read, so the commit written anew would have fewer names. What
    could be counted wrongly is not counted.
    """
    if any(odd in content for odd in _UNCOUNTED):
        return False
    return _count_keys(content) == len(actions) + _count_keys(msgspec.json.encode(actions))


_UNCOUNTED = (b'\\\\"', b'" ', b'"\t')
"""A name that ends with a backslash, or is followed by a blank; or what looks like it in a string."""


def _count_keys(content: bytes) -> int:
    """How many names all objects have; a quote that is part of a string has a backslash in front."""
    return content.count(b'":') - content.count(b'\\":')


def duplicate_key(text: str | bytes) -> str | None:
    """A name that one object of a JSON text has twice."""
    # Numbers stay text: Python refuses to read those of thousands of digits.
    return next(_duplicate_keys(json.loads(text, object_pairs_hook=_Pairs, parse_int=str)), None)


class _Pairs(list[tuple[str, object]]):
    """A JSON object as it is written."""


def _duplicate_keys(value: object) -> Iterator[str]:
    if isinstance(value, _Pairs):
        keys = set[str]()
        for key, part in value:
            if key in keys:
                yield key
            keys.add(key)
            yield from _duplicate_keys(part)
    elif isinstance(value, list):
        for part in value:
            yield from _duplicate_keys(part)
