"""What becomes of a table's columns when rows with other columns arrive.

Columns are matched by name ignoring case, at every level. Those of the table keep their spelling, order,
nullability and metadata; new ones follow them. One row per pair of types that are not structs,
arrays or maps; the first that applies decides.

Rows of ``name STRING, ID SMALLINT, at DATE`` merged into a table of ``id INT, Name STRING`` make it ``id
INT, Name STRING, at DATE``: both columns are found, the wider integer stays, and the new one comes last. A
row of ``id STRING`` would be refused: no rule makes one type of integer and string.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headgate.errors import SchemaMismatch
from headgate.protocol.schema import evolution
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, describe_type

TYPE_CHANGES = "delta.typeChanges"
_SMALL = ("byte", "short", "integer")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_NUMBERS = ("byte", "short", "integer", "long", "float", "double")
_MOMENTS = ("date", "timestamp", "timestamp_ntz")
_AS_TEXT = (*_MOMENTS, "boolean")


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """What a merge may do beyond adding columns."""

    widening: bool = False
    """Whether columns may get wider types: the property ``delta.enableTypeWidening``."""
    casts: bool = False
    """Whether values of the rows are cast to the table's types, as an INSERT of SQL does."""
    preview_version: int | None = None
    """The version a change of type is of, which the preview of type widening records."""


Pair = Callable[[str, str, MergeOptions], bool]


@dataclass(frozen=True, slots=True)
class TypeRule:
    """One row: a pair of types, and which of the two the column has then; neither is an error."""

    table: str
    rows: str
    applies: Pair
    result: str
    choose: Callable[[str, str], str] | None
    code: str | None = None


def _same(ours: str, theirs: str, _: MergeOptions) -> bool:
    return _normal(ours) == _normal(theirs)


def _widening(ours: str, theirs: str, allowed: MergeOptions) -> bool:
    return allowed.widening and evolution.is_widening(ours, theirs)


def _void_column(ours: str, _: str, __: MergeOptions) -> bool:
    return ours == "void"


def _void_rows(_: str, theirs: str, __: MergeOptions) -> bool:
    return theirs == "void"


def _small_integers(ours: str, theirs: str, _: MergeOptions) -> bool:
    return ours in _SMALL and theirs in _SMALL


def _castable(ours: str, theirs: str, allowed: MergeOptions) -> bool:
    """Whether SQL's store assignment takes the value: within numbers, within moments, anything as text or
    as a document."""
    if not allowed.casts:
        return False
    numeric = [_is_number(name) for name in (ours, theirs)]
    return (
        (ours == "variant" and not theirs.startswith("interval"))
        or all(numeric)
        or (ours in _MOMENTS and theirs in _MOMENTS)
        or (ours == "string" and (theirs in _AS_TEXT or numeric[1]))
    )


def _decimals(ours: str, theirs: str, _: MergeOptions) -> bool:
    return bool(_DECIMAL.fullmatch(ours) and _DECIMAL.fullmatch(theirs))


def _otherwise(_: str, __: str, ___: MergeOptions) -> bool:
    return True


def _table(ours: str, _: str) -> str:
    return ours


def _rows(_: str, theirs: str) -> str:
    return theirs


def _wider(ours: str, theirs: str) -> str:
    return max(ours, theirs, key=_SMALL.index)


RULES: tuple[TypeRule, ...] = (
    TypeRule("any type", "the same", _same, "the table's", _table),
    TypeRule("void", "any type", _void_column, "that of the rows", _rows),
    TypeRule("any type", "void", _void_rows, "the table's", _table),
    TypeRule("a type", "a wider one, with delta.enableTypeWidening", _widening, "that of the rows", _rows),
    TypeRule("a type", "one that SQL's store assignment casts to it, if casts are asked for", _castable,
         "the table's", _table),
    TypeRule("byte, short, integer", "byte, short, integer", _small_integers, "the wider of the two", _wider),
    TypeRule("decimal", "another decimal", _decimals, "refused", None,
         "DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE"),
    TypeRule("a type", "another", _otherwise, "refused", None, "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Incompatible:
    """Two types that nothing can be made of."""

    path: str
    table: DataType
    rows: DataType
    code: str


@dataclass(slots=True)
class _SchemaMerge:
    allowed: MergeOptions
    problems: list[Incompatible] = field(default_factory=list)

    def struct(self, ours: Struct, theirs: Struct, where: str) -> Struct:
        kept = tuple(
            self._field(column, theirs.find(column.name), f"{where}{column.name}") for column in ours.fields
        )
        added = (_as_added_column(column) for column in theirs.fields if ours.find(column.name) is None)
        return Struct((*kept, *added))

    def _field(self, ours: Field, theirs: Field | None, path: str) -> Field:
        if theirs is None:
            return ours
        merged = self._type(ours.type, theirs.type, path)
        changes = [] if ours.type == merged else list(_changes(ours.type, merged, ()))
        if not changes or not self.allowed.widening:
            return replace(ours, type=merged)
        version = self.allowed.preview_version
        told = [change if version is None else {**change, "tableVersion": version} for change in changes]
        history = [*ours.metadata.get(TYPE_CHANGES, ()), *told]
        return replace(ours, type=merged, metadata={**ours.metadata, TYPE_CHANGES: history})

    def _type(self, ours: DataType, theirs: DataType, path: str) -> DataType:
        match ours, theirs:
            case Struct(), Struct():
                return self.struct(ours, theirs, f"{path}.")
            case Array(element, contains_null), Array(other, _):
                return Array(self._type(element, other, f"{path}.element"), contains_null)
            case Map(key, value, contains_null), Map(other_key, other_value, _):
                return Map(
                    self._type(key, other_key, f"{path}.key"),
                    self._type(value, other_value, f"{path}.value"),
                    contains_null,
                )
            case Primitive(one), Primitive(other):
                return self._primitive(one, other, path)
            case Primitive("variant"), Array(element, _) if self.allowed.casts:
                self._type(ours, element, path)
                return ours
            case Primitive("void"), _:
                return theirs
            case _, Primitive("void"):
                return ours
            case _:
                return self._refused(ours, theirs, path, RULES[-1])

    def _primitive(self, ours: str, theirs: str, path: str) -> DataType:
        rule = next(rule for rule in RULES if rule.applies(ours, theirs, self.allowed))
        if rule.choose is None:
            return self._refused(Primitive(ours), Primitive(theirs), path, rule)
        return Primitive(rule.choose(ours, theirs))

    def _refused(self, ours: DataType, theirs: DataType, path: str, rule: TypeRule) -> DataType:
        self.problems.append(Incompatible(path, ours, theirs, rule.code or RULES[-1].code or ""))
        return ours


def merge_schemas(table: Struct, rows: Struct, allowed: MergeOptions = MergeOptions()) -> Struct:  # noqa: B008 — frozen
    """The columns of the table once rows with these are in it; refused if types do not go together."""
    work = _SchemaMerge(allowed)
    found = work.struct(table, rows, "")
    if work.problems:
        casting = not incompatible_types(table, rows, replace(allowed, casts=True))
        raise _incompatible_error(work.problems, table, rows, casting=casting)
    return found


def incompatible_types(
    table: Struct,
    rows: Struct,
    allowed: MergeOptions = MergeOptions(),  # noqa: B008
) -> tuple[Incompatible, ...]:
    """What stands in the way of a merge."""
    work = _SchemaMerge(allowed)
    work.struct(table, rows, "")
    return tuple(work.problems)


def added_columns(table: Struct, rows: Struct, where: str = "") -> Iterator[str]:
    """The paths of the columns that the rows have and the table has not."""
    for column in rows.fields:
        found = table.find(column.name)
        if found is None:
            yield f"{where}{column.name}"
        else:
            yield from _added_within(found.type, column.type, f"{where}{column.name}.")


def _added_within(ours: DataType, theirs: DataType, where: str) -> Iterator[str]:
    match ours, theirs:
        case Struct(), Struct():
            yield from added_columns(ours, theirs, where)
        case Array(element, _), Array(other, _):
            yield from _added_within(element, other, f"{where}element.")
        case Map(key, value, _), Map(other_key, other_value, _):
            yield from _added_within(key, other_key, f"{where}key.")
            yield from _added_within(value, other_value, f"{where}value.")
        case _:
            return


def _as_added_column(column: Field) -> Field:
    return replace(column, nullable=True)


def _changes(before: DataType, after: DataType, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The entries of a column's history; fields of structs have histories of their own."""
    match before, after:
        case Primitive("void"), _:
            return
        case Primitive(old), Primitive(new) if old != new:
            where = {"fieldPath": ".".join(path)} if path else {}
            yield {"fromType": old, "toType": new, **where}
        case Array(old, _), Array(new, _):
            yield from _changes(old, new, (*path, "element"))
        case Map(old_key, old_value, _), Map(new_key, new_value, _):
            yield from _changes(old_key, new_key, (*path, "key"))
            yield from _changes(old_value, new_value, (*path, "value"))
        case _:
            return


def _incompatible_error(
    problems: Sequence[Incompatible], table: Struct, rows: Struct, *, casting: bool
) -> SchemaMismatch:
    told = "; ".join(
        f"column {problem.path!r} is {describe_type(problem.table)} in the table but "
        f"{describe_type(problem.rows)} in the rows"
        for problem in problems
    )
    way = (
        "Write with implicit_casts=True to have such values cast to the table's types, as an INSERT does"
        if casting
        else "No option merges these: cast it to the table's type"
    )
    return SchemaMismatch(
        f"failed to merge fields: {told}. {way}, or to replace the table's columns overwrite it with "
        "overwriteSchema (overwrite_schema=True)",
        code="DELTA_FAILED_TO_MERGE_FIELDS",
        causes=tuple(problem.code for problem in problems),
        fields=tuple(problem.path for problem in problems),
        expected=table,
        found=rows,
    )


def _normal(name: str) -> str:
    return name.replace(" ", "")


def _is_number(name: str) -> bool:
    return name in _NUMBERS or _DECIMAL.fullmatch(name) is not None
