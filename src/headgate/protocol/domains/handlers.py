"""Ready-made handlers: ways to merge a metadata domain that two commits wrote at once.

Each gives the same answer for the same arguments. Two removals are a removal; a removal against
a new value is refused by all but ``last_writer_wins``, since nobody can say which was meant.
"""

import json
import re
from decimal import Decimal
from functools import wraps
from typing import TypeVar

import msgspec

from headgate.errors import DomainConflict
from headgate.protocol.actions import DomainMetadata
from headgate.protocol.domains.rules import Handler

_Parsed = TypeVar("_Parsed")
_Object = dict[str, msgspec.Raw]
_Array = list[msgspec.Raw]
_NUMBER = re.compile(r'(?P<quote>"?)(?P<digits>-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?)(?P=quote)')


def _unless_removed(merge: Handler) -> Handler:
    """A handler that leaves removals to the rule of this module."""

    @wraps(merge)
    def guarded(base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
        if winner.removed and mine.removed:
            return mine
        if winner.removed or mine.removed:
            remover, setter = ("the winner", "this one") if winner.removed else ("this one", "the winner")
            raise DomainConflict(f"of the two transactions, {remover} removes it and {setter} sets it")
        return merge(base, winner, mine)

    return guarded


def last_writer_wins(
    _base: DomainMetadata | None, _winner: DomainMetadata, mine: DomainMetadata
) -> DomainMetadata:
    """What is committed last stands, be it a value or a removal."""
    return mine


def max_of(key: str | None = None) -> Handler:
    """A handler that keeps the side with the greater number, whole; for marks that only move forward.

    The configuration is a number, or with ``key`` a JSON object that has one there; a number may
    also be given as text, as in a map of strings.
    """

    def greater(_: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
        return max(mine, winner, key=lambda side: _number(side, key))

    greater.__qualname__ = f"max_of({'' if key is None else repr(key)})"
    return _unless_removed(greater)


@_unless_removed
def union(_: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
    """The elements of both JSON arrays, each once: the winner's in their order, then ours.

    A set that only grows: what one side took out and the other still has stays.
    """
    elements: dict[str | None, msgspec.Raw] = {}
    for element in (*_parsed(winner, _Array), *_parsed(mine, _Array)):
        elements.setdefault(_canonical(element), element)
    return _with_value(mine, list(elements.values()))


@_unless_removed
def merge_disjoint_keys(
    base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata
) -> DomainMetadata:
    """Both sides' changes to a JSON object, key by key, compared with what it was before.

    The same change on both sides is one change; different changes of one key are refused.
    """
    before = {} if base is None else _parsed(base, _Object)
    theirs, ours = _parsed(winner, _Object), _parsed(mine, _Object)
    merged, contested = {}, []
    for key in {**theirs, **ours, **before}:
        was, their, our = (_canonical(side.get(key)) for side in (before, theirs, ours))
        if our != was and their not in (was, our):
            contested.append(key)
        changed = theirs if our == was else ours
        if key in changed:
            merged[key] = changed[key]
    if contested:
        raise DomainConflict(f"both change {', '.join(map(repr, sorted(contested)))}, each to something else")
    return _with_value(mine, merged)


def _with_value(mine: DomainMetadata, value: _Object | _Array) -> DomainMetadata:
    return msgspec.structs.replace(mine, configuration=msgspec.json.encode(value).decode())


def _parsed(side: DomainMetadata, kind: type[_Parsed]) -> _Parsed:
    try:
        return msgspec.json.decode(side.configuration, type=kind)
    except msgspec.DecodeError as exc:
        wanted = "a JSON array" if kind == _Array else "a JSON object"
        raise DomainConflict(f"{_shown(side.configuration)} is not {wanted}") from exc


def _canonical(value: msgspec.Raw | None) -> str | None:
    """The value so that equal ones are equal text; None for a key that is absent, which is not null."""
    if value is None:
        return None
    # Floats keep their digits: what looks the same to a double need not be the same.
    parsed = json.loads(bytes(value), parse_float=lambda digits: ["\0float", digits])
    return json.dumps(parsed, sort_keys=True)


def _number(side: DomainMetadata, key: str | None) -> Decimal:
    if key is None:
        value, of = side.configuration.strip(), "it"
    else:
        members, of = _parsed(side, _Object), f"its key {key!r}"
        if key not in members:
            raise DomainConflict(f"{_shown(side.configuration)} has no key {key!r}")
        value = bytes(members[key]).decode()
    found = _NUMBER.fullmatch(value)
    if found is None:
        raise DomainConflict(f"{of} should be a number, and {_shown(value)} is none")
    return Decimal(found["digits"])


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "…")
