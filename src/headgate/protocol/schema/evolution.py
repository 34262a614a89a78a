"""May the columns of a table become these, with its data files left as they are?

One row per change of a type. What is neither the same nor in a row would make old files unreadable,
or readable as something else. Of a table that does not map its columns:

    id byte → id integer      may be
    id integer → id long      may be with typeWidening, else "the column 'id' changes from integer to long"
    id integer → id string    "the column 'id' changes from integer to string"
    id, note → id             "the column 'note', which files have under this name, goes away or gets another"
    id → id, note             may be: of old files the column is null
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from headgate.protocol import property_values
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, describe_type

TYPE_WIDENING_FEATURES = ("typeWidening", "typeWidening-preview")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_ID = re.compile(r"[0-9]{1,18}")
_DIGITS = {"byte": 10, "short": 10, "integer": 10, "long": 20}
"""How many digits before the point a decimal must have for numbers of these types."""


@dataclass(frozen=True, slots=True)
class Widening:
    """One row: from which types to which, and whether a table must have the feature for it."""

    before: frozenset[str]
    after: frozenset[str]
    needs_feature: bool = True


WIDENINGS: tuple[Widening, ...] = (
    # Parquet keeps all three in 32 bits, so files need not be told apart.
    Widening(frozenset({"byte"}), frozenset({"short", "integer"}), needs_feature=False),
    Widening(frozenset({"short"}), frozenset({"integer"}), needs_feature=False),
    Widening(frozenset({"byte", "short", "integer"}), frozenset({"long", "double"})),
    Widening(frozenset({"float"}), frozenset({"double"})),
    Widening(frozenset({"date"}), frozenset({"timestamp_ntz"})),
)


def schema_change_breach(before: Metadata, after: Metadata, protocol: Protocol) -> str | None:
    """What in this change the files that are there would contradict; ``protocol`` is the one after it."""
    if _laid_out_by(before) != _laid_out_by(after):
        return (
            f"the partition columns become {list(after.partition_columns)}, and the files are laid out by "
            f"{list(before.partition_columns)}"
        )
    modes = column_mapping.mapping_mode(before), column_mapping.mapping_mode(after)
    if modes[0] != modes[1] and modes != (ColumnMappingMode.NONE, ColumnMappingMode.NAME):
        return f"the column mapping changes from {modes[0]} to {modes[1]}"
    was, now = (schema_json.parse(found.schema_string) for found in (before, after))
    widens = any(protocol.has(name) for name in TYPE_WIDENING_FEATURES)
    if why := _nullability_breach(was, now, modes, ""):
        return why
    if modes[0] is ColumnMappingMode.NONE:
        # A column that is mapped from now on must be found in files that were written without mapping.
        return _by_name(was, column_mapping.physical_schema(now, modes[1]), "", widens=widens)
    if _max_id(after) < _max_id(before):
        marks = f"from {_max_id(before)} to {_max_id(after)}"
        return f"{property_values.MAX_COLUMN_ID} goes back {marks}, so ids would be given again"
    return _by_id(was, now, before, widens=widens)


def unreadable_column(before: Metadata, after: Metadata) -> str | None:
    """Which column files written as ``before`` says have in a type that is not read as that of ``after``."""
    modes = column_mapping.mapping_mode(before), column_mapping.mapping_mode(after)
    was, now = (schema_json.parse(found.schema_string) for found in (before, after))
    return _shared(was, now, "", modes=modes, widens=True)


def duplicate_column(schema: Struct) -> str | None:
    """A column that is there twice in its struct, ignoring case as Spark does."""
    for struct, where in _structs(schema, ""):
        seen: set[str] = set()
        for column in struct.fields:
            if column.name.lower() in seen:
                return f"{where}{column.name}"
            seen.add(column.name.lower())
    return None


def empty_structs(schema: Struct) -> tuple[str, ...]:
    """The columns that are structs without fields, of which data files can store nothing."""
    return tuple(where[:-1] for struct, where in _structs(schema, "") if where and not struct.fields)


def column_mapping_breach(metadata: Metadata) -> str | None:
    """What is wrong with the ids and physical names of a table that maps its columns."""
    mode = column_mapping.mapping_mode(metadata)
    if mode is ColumnMappingMode.NONE:
        return None
    most = _max_id(metadata)
    ids: dict[object, str] = {}
    for struct, where in _structs(schema_json.parse(metadata.schema_string), ""):
        physical: dict[object, str] = {}
        for column in struct.fields:
            path = f"{where}{column.name}"
            number, name = (
                column.metadata.get(column_mapping.COLUMN_ID),
                column.metadata.get(column_mapping.PHYSICAL_NAME),
            )
            if not isinstance(number, int) or not isinstance(name, str) or not name:
                return f"the column {path!r} has no id or no physical name"
            lower = name.lower()  # as readers compare the names of a file's columns
            if number in ids or lower in physical:
                return f"the columns {ids.get(number) or physical.get(lower)!r} and {path!r} are mapped alike"
            if number > most:
                return (
                    f"the column {path!r} has the id {number}, above {property_values.MAX_COLUMN_ID} = {most}"
                )
            ids[number] = physical[lower] = path
    return None


def _by_name(was: Struct, now: Struct, where: str, *, widens: bool) -> str | None:
    """Without column mapping a name is all that files know of a column."""
    known = {column.name: column for column in reversed(now.fields)}
    for column in was.fields:
        path, found = f"{where}{column.name}", known.get(column.name)
        if found is None:
            return f"the column {path!r}, which files have under this name, goes away or gets another"
        if why := _type_breach(column.type, found.type, path, widens=widens, nested=_by_name):
            return why
    return None


def _by_id(was: Struct, now: Struct, before: Metadata, *, widens: bool) -> str | None:
    old, new = dict(_mapped(was)), dict(_mapped(now))
    most, known_places = _max_id(before), {place for place, _ in old.values()}
    for number, (place, column) in new.items():
        if number not in old and number <= most:
            return f"the new column {column.name!r} has the id {number}, which another column had"
        if number not in old and place in known_places:
            return f"the new column {column.name!r} has the physical name of another, whose values files have"
        if number not in old:
            continue
        known_place, known = old[number]
        if place != known_place:
            return f"the column {column.name!r} of id {number} gets another physical name or place"
        if why := _type_breach(known.type, column.type, column.name, widens=widens, nested=_anything):
            return why
    return None


def _shared(
    was: Struct, now: Struct, where: str, *, modes: tuple[ColumnMappingMode, ColumnMappingMode], widens: bool
) -> str | None:
    """Of columns that only one of the two has, files of the other have no value that could be misread."""
    nested = partial(_shared, modes=modes)
    known = {str(_in_files(column, modes[0])).lower(): column for column in was.fields}
    for column in now.fields:
        found = known.get(str(_in_files(column, modes[1])).lower())
        path = f"{where}{column.name}"
        if found and (why := _type_breach(found.type, column.type, path, widens=widens, nested=nested)):
            return why
    return None


def _laid_out_by(metadata: Metadata) -> list[object]:
    """The names that the log has for the partition columns."""
    mode = column_mapping.mapping_mode(metadata)
    columns = schema_json.parse(metadata.schema_string).fields if mode is not ColumnMappingMode.NONE else ()
    known = {column.name: _in_files(column, mode) for column in columns}
    return [known.get(name, name) for name in metadata.partition_columns]


def _in_files(column: Field, mode: ColumnMappingMode) -> object:
    """The name that files have for a column."""
    return (
        column.name if mode is ColumnMappingMode.NONE else column.metadata.get(column_mapping.PHYSICAL_NAME)
    )


def _nullability_breach(
    was: DataType, now: DataType, modes: tuple[ColumnMappingMode, ColumnMappingMode], where: str
) -> str | None:
    """What must no longer be null, and may be in the rows that are there."""
    match was, now:
        case Struct(), Struct():
            known = {_in_files(column, modes[0]): column for column in was.fields}
            for column in now.fields:
                path, before = f"{where}{column.name}", known.get(_in_files(column, modes[1]))
                if not column.nullable and (before is None or before.nullable):
                    return (
                        f"the column {path!r} is NOT NULL from now on, which rows that are there may not know"
                    )
                why = (
                    None
                    if before is None
                    else _nullability_breach(before.type, column.type, modes, f"{path}.")
                )
                if why is not None:
                    return why
        case Array(one, had), Array(other, has):
            if had and not has:
                return f"the elements of {where.rstrip('.')!r} are NOT NULL from now on"
            return _nullability_breach(one, other, modes, f"{where}element.")
        case Map(_, value, had), Map(_, other_value, has):
            if had and not has:
                return f"the values of {where.rstrip('.')!r} are NOT NULL from now on"
            return _nullability_breach(value, other_value, modes, f"{where}value.")
        case _:
            pass
    return None


def _mapped(schema: Struct) -> Iterator[tuple[int, tuple[str, Field]]]:
    """Every column that has an id, with where files have it."""
    files = _structs(column_mapping.physical_schema(schema, ColumnMappingMode.NAME), "")
    for (struct, _), (stored, where) in zip(_structs(schema, ""), files, strict=True):
        for column, held in zip(struct.fields, stored.fields, strict=True):
            number = column.metadata.get(column_mapping.COLUMN_ID)
            if isinstance(number, int):
                yield number, (f"{where}{held.name}", column)


def _anything(_was: Struct, _now: Struct, _where: str, *, widens: bool) -> str | None:  # noqa: ARG001
    return None  # the columns inside have ids of their own


_Nested = Callable[..., str | None]


def _type_breach(was: DataType, now: DataType, path: str, *, widens: bool, nested: _Nested) -> str | None:
    match was, now:
        case Struct(), Struct():
            return nested(was, now, f"{path}.", widens=widens)
        case Array(one, _), Array(other, _):
            return _type_breach(one, other, f"{path}.element", widens=widens, nested=nested)
        case Map(key, value, _), Map(other_key, other_value, _):
            return _type_breach(key, other_key, f"{path}.key", widens=widens, nested=nested) or _type_breach(
                value, other_value, f"{path}.value", widens=widens, nested=nested
            )
        case Primitive(old), Primitive(new) if old == new or _widens(old, new, widens=widens):
            return None
        case Primitive("void"), _:
            return None
        case _:
            return f"the column {path!r} changes from {describe_type(was)} to {describe_type(now)}"


def is_widening(old: str, new: str) -> bool:
    """Whether a table that has the feature may change a column of the one type to the other."""
    return _widens(old, new, widens=True)


def _widens(old: str, new: str, *, widens: bool) -> bool:
    return any(
        old in row.before and new in row.after and (widens or not row.needs_feature) for row in WIDENINGS
    ) or (widens and _to_wider_decimal(old, new))


def _to_wider_decimal(old: str, new: str) -> bool:
    """Neither the digits before the point nor those after it may become fewer."""
    target = _DECIMAL.fullmatch(new)
    if target is None:
        return False
    precision, scale = map(int, target.groups())
    source = _DECIMAL.fullmatch(old)
    if source is None:
        return old in _DIGITS and precision - scale >= _DIGITS[old]
    was_precision, was_scale = map(int, source.groups())
    return scale >= was_scale and precision - scale >= was_precision - was_scale


def _structs(data_type: DataType, where: str) -> Iterator[tuple[Struct, str]]:
    match data_type:
        case Struct(fields):
            yield data_type, where
            for column in fields:
                yield from _structs(column.type, f"{where}{column.name}.")
        case Array(element, _):
            yield from _structs(element, f"{where}element.")
        case Map(key, value, _):
            yield from _structs(key, f"{where}key.")
            yield from _structs(value, f"{where}value.")
        case Primitive():
            return


def _max_id(metadata: Metadata) -> int:
    text = property_values.text(metadata, property_values.MAX_COLUMN_ID)
    return int(text) if _ID.fullmatch(text) else 0
