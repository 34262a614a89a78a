"""What a predicate is: which rows of a table it can be true for, as far as that can be known.

There is no NOT and no NULL in the tree. A row is selected only where its condition is TRUE, so
negations are pushed into the comparisons and whatever is never TRUE is ``Never``. What cannot
be understood is ``Opaque``, which may be true for any row.

    NOT (a = 1 OR b IS NULL)    And(Compare(a <> 1), NotNull(b))
    a > 3 AND rand() < 0.5      And(Compare(a > 3), Opaque("RAND() < 0.5"))
    a IN (3, 1, 3)              In(a, (1, 3))
    a = NULL                    Never()

So ``NOT (a = 1)`` is ``a <> 1``: it selects no row in which a is null, and neither does SQL.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from enum import StrEnum

from headgate.errors import InvalidRequest
from headgate.protocol.schema.types import DataType, Field, Primitive, Struct

Value = bool | int | float | Decimal | str | date | datetime
"""A value of a column: its own type, timestamps as UTC (or as the wall shows) without a zone."""


class Op(StrEnum):
    """How a column is compared with a value."""

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    @property
    def negated(self) -> "Op":
        return _NEGATED[self]

    @property
    def mirrored(self) -> "Op":
        """The same comparison with its sides exchanged."""
        return _MIRRORED[self]


_CHAR = re.compile(r"\bchar\(", re.IGNORECASE)
_NEGATED = {Op.EQ: Op.NE, Op.NE: Op.EQ, Op.LT: Op.GE, Op.GE: Op.LT, Op.GT: Op.LE, Op.LE: Op.GT}
_MIRRORED = {Op.EQ: Op.EQ, Op.NE: Op.NE, Op.LT: Op.GT, Op.GT: Op.LT, Op.LE: Op.GE, Op.GE: Op.LE}


@dataclass(frozen=True, slots=True)
class Column:
    """A column with one value per row, by its path as the schema spells it."""

    path: tuple[str, ...]
    type: DataType
    plain: bool = True
    """False if values do not compare by their bytes: collations, and CHAR with its padding."""
    was_float: bool = False
    """True if older files hold floats, whose statistics are rounded to the digits of a float."""


@dataclass(frozen=True, slots=True)
class Always:
    """True for every row."""


@dataclass(frozen=True, slots=True)
class Never:
    """False or NULL for every row."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """May be true for any row; ``text`` is what was not understood."""

    text: str


@dataclass(frozen=True, slots=True)
class Compare:
    """The column is not null and compares so with a value of its own type."""

    column: Column
    op: Op
    value: Value


@dataclass(frozen=True, slots=True)
class In:
    """The column equals one of the values, which are distinct and in order."""

    column: Column
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The column is not null and begins with the prefix."""

    column: Column
    prefix: str


@dataclass(frozen=True, slots=True)
class NotStartsWith:
    """The column is not null and does not begin with the prefix."""

    column: Column
    prefix: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """The column is null."""

    column: Column


@dataclass(frozen=True, slots=True)
class NotNull:
    """The column is not null."""

    column: Column


@dataclass(frozen=True, slots=True)
class And:
    """All parts are true."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part is true."""

    parts: tuple["Predicate", ...]


Predicate = Always | Never | Opaque | Compare | In | StartsWith | NotStartsWith | IsNull | NotNull | And | Or


def all_of(parts: Iterable[Predicate]) -> Predicate:
    """True where all parts are."""
    kept: list[Predicate] = []
    for part in parts:
        match part:
            case Never():
                return part
            case Always():
                continue
            case And(inner):
                kept.extend(inner)
            case _:
                kept.append(part)
    return And(tuple(kept)) if len(kept) > 1 else kept[0] if kept else Always()


def any_of(parts: Iterable[Predicate]) -> Predicate:
    """True where some part is."""
    kept: list[Predicate] = []
    for part in parts:
        match part:
            case Always():
                return part
            case Never():
                continue
            case Or(inner):
                kept.extend(inner)
            case _:
                kept.append(part)
    return Or(tuple(kept)) if len(kept) > 1 else kept[0] if kept else Never()


def referenced_columns(predicate: Predicate) -> Iterator[Column]:
    """The columns it looks at, those of unknown parts excepted."""
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from referenced_columns(part)
        case Always() | Never() | Opaque():
            return
        case _:
            yield predicate.column


def resolve_column(schema: Struct, parts: tuple[str, ...], *, alias: str | None = None) -> Column | None:
    """The column a name stands for, ignoring case; None for a struct or a part of a list or map.

    Raises InvalidRequest if the schema has no such column. ``alias`` is a name of the table itself.
    """
    if alias is not None and len(parts) > 1 and parts[0].lower() == alias.lower() and schema.find(parts[1]):
        parts = parts[1:]
    found: list[str] = []
    inside: DataType = schema
    field: Field | None = None
    plain = True
    for part in parts:
        if not isinstance(inside, Struct):
            if isinstance(inside, Primitive):
                raise _not_found_error(parts, tuple(found), Struct(()))
            return None
        field = inside.find(part)
        if field is None:
            raise _not_found_error(parts, tuple(found), inside)
        found.append(field.name)
        inside = field.type
        plain = plain and _is_plain(field)
    if field is None or isinstance(field.type, Struct):
        return None
    plain = plain or field.type != Primitive("string")  # but other parts of a struct with such texts
    return Column(tuple(found), field.type, plain=plain, was_float=_was_float(field))


def _not_found_error(parts: tuple[str, ...], found: tuple[str, ...], inside: Struct) -> InvalidRequest:
    asked = ".".join(parts)
    names = {field.name.lower(): field.name for field in inside.fields}
    near = [names[name] for name in get_close_matches(parts[len(found)].lower(), names, cutoff=0.5)]
    # One level down is where a name without its struct usually belongs.
    near += [
        f"{field.name}.{part.name}"
        for field in inside.fields
        if isinstance(field.type, Struct) and (part := field.type.find(parts[-1]))
    ]
    if near:
        hint = "did you mean " + " or ".join(repr(".".join((*found, name))) for name in near) + "?"
    else:
        hint = f"it has {', '.join(repr(name) for name in names.values()) or 'no fields'}"
    where = f"{'.'.join(found)!r}" if found else "the table"
    return InvalidRequest(
        f"there is no column {asked!r}: {where} has no {parts[len(found)]!r}; {hint}",
        code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
    )


def _is_plain(field: Field) -> bool:
    padded = _CHAR.search(str(field.metadata.get("__CHAR_VARCHAR_TYPE_STRING", "")))
    return padded is None and "__COLLATIONS" not in field.metadata


def _was_float(field: Field) -> bool:
    changes = field.metadata.get("delta.typeChanges") or ()
    return any(change.get("fromType") == "float" for change in changes)
