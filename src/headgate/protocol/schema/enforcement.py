"""Do rows of one schema fit a table of another?"""

import re
from collections import Counter
from collections.abc import Iterable

from headgate.errors import InvalidRequest, SchemaMismatch
from headgate.protocol.schema.types import (
    Array,
    DataType,
    Field,
    Map,
    Primitive,
    Struct,
    describe_type,
    parquet_depth,
)

_STORABLE = re.compile(
    r"byte|short|integer|long|float|double|decimal\(\d+,\s*\d+\)|string|binary|boolean|date|timestamp(_ntz)?|void"
    r"|variant"
)
_COMPUTED = {"delta.generationExpression", "CURRENT_DEFAULT", "delta.identity.start"}
_ILLEGAL_IN_NAMES = set(" ,;{}()\n\t=")
_MOST_LEVELS = 98
"""Readers of Parquet take a hundred, with the file itself and the value at the end."""


def check_new_schema(schema: Struct, *, mapped: bool = False) -> None:
    """Refuse a schema no table may have: no columns, duplicates ignoring case, illegal names or types,
    structs without fields, or columns nested deeper than files can be.

    With ``mapped`` columns files have names of their own, so those in the schema may be any.
    """
    if not schema.fields:
        raise InvalidRequest(
            "a table needs at least one column: name one, as in id BIGINT", code="DELTA_EMPTY_DATA"
        )
    check_depth(schema.fields)
    _check_names(schema, "", mapped=mapped)
    for column in schema.fields:
        if "delta.generationExpression" in column.metadata and column.type == Primitive("variant"):
            raise InvalidRequest(
                f"column {column.name!r} is generated and of type VARIANT, which no Delta client computes: "
                "give it a DEFAULT, or another type",
                code="DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN",
            )


def check_depth(columns: Iterable[Field]) -> None:
    """Refuse columns that are nested deeper than data files can be."""
    for column in columns:
        if parquet_depth(column.type) > _MOST_LEVELS:
            raise InvalidRequest(
                f"column {column.name!r} is nested more than {_MOST_LEVELS} levels deep (lists and maps "
                "count twice), and data files cannot be: flatten it, or keep what is deeper as a string of "
                "JSON",
                code="HEADGATE_SCHEMA_TOO_DEEP",
            )


def check_row_schema(rows: Struct) -> Struct:
    """The columns of rows; refused if two differ in case only, or a void one is inside a list or map."""
    _check_data(rows, "")
    return rows


def check_required_columns(rows: Struct, table: Struct) -> None:
    """Refuse rows without a column that must have a value, and has no other way to get one."""
    missing = [
        column.name
        for column in table.fields
        if not column.nullable and rows.find(column.name) is None and not column.metadata.keys() & _COMPUTED
    ]
    if missing:
        raise SchemaMismatch(
            f"column {', '.join(map(repr, missing))} is NOT NULL in the table and missing from the rows: "
            "add it",
            code="DELTA_MISSING_NOT_NULL_COLUMN_VALUE",
            expected=table,
            found=rows,
        )


def check_assignable(name: str, found: DataType, wanted: DataType, *, may_lack: bool = False) -> None:
    """Refuse a value for a column that would lose fields in it; with ``may_lack`` it may have fewer fields.

    Of values without parts only whoever casts them can tell.
    """
    match found, wanted:
        case Primitive("void"), _:
            return
        case Struct(fields), Struct(others):
            extra = [part.name for part in fields if wanted.find(part.name) is None]
            lacking = [part.name for part in others if found.find(part.name) is None]
            if extra or (lacking and not may_lack):
                told = [f"has {', '.join(map(repr, extra))} beyond"] if extra else []
                told += [f"lacks {', '.join(map(repr, lacking))} of"] if lacking and not may_lack else []
                raise _unassignable_error(
                    name, f"the value {' and '.join(told)} the fields of the column", wanted
                )
            for part in fields:
                same = wanted.find(part.name)
                if same is not None:
                    check_assignable(f"{name}.{part.name}", part.type, same.type, may_lack=may_lack)
        case Array(element, _), Array(other, _):
            check_assignable(f"{name}.element", element, other, may_lack=may_lack)
        case Map(key, value, _), Map(other_key, other_value, _):
            check_assignable(f"{name}.key", key, other_key, may_lack=may_lack)
            check_assignable(f"{name}.value", value, other_value, may_lack=may_lack)
        case Primitive(), Primitive(other_name) if other_name != "void":
            return
        case _, Primitive("string"):
            return
        case _:
            raise _unassignable_error(name, f"the value is {describe_type(found)}", wanted)


def _unassignable_error(name: str, why: str, wanted: DataType) -> InvalidRequest:
    return InvalidRequest(
        f"column {name!r} of type {describe_type(wanted)} cannot be set: {why}; nothing was changed: give a "
        "value of the column's type",
        code="DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION",
    )


def _check_data(data_type: DataType, where: str, *, inside: bool = False) -> None:
    match data_type:
        case Struct(fields):
            names = Counter(column.name.lower() for column in fields)
            twice = sorted(name for name, count in names.items() if count > 1)
            if twice:
                raise SchemaMismatch(
                    f"the rows have more than one column {', '.join(repr(where + name) for name in twice)} "
                    "(names are compared ignoring case): drop or rename all but one",
                    code="DELTA_DUPLICATE_COLUMNS_FOUND",
                )
            for column in fields:
                _check_data(column.type, f"{where}{column.name}.", inside=inside)
        case Array(element, _):
            _check_data(element, f"{where}element.", inside=True)
        case Map(key, value, _):
            _check_data(key, f"{where}key.", inside=True)
            _check_data(value, f"{where}value.", inside=True)
        case Primitive("void") if inside:
            raise SchemaMismatch(
                f"{where[:-1]!r} is of type void, which lists and maps cannot have: cast it to a type",
                code="DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
            )
        case Primitive():
            return


def _check_names(data_type: DataType, where: str, *, mapped: bool) -> None:
    match data_type:
        case Struct(()):
            raise InvalidRequest(
                f"column {where[:-1]!r} is a struct without fields, of which data files can store nothing: "
                "give it a field, or leave it out",
                code="DELTA_EMPTY_DATA",
            )
        case Struct(fields):
            seen: set[str] = set()
            for column in fields:
                path = f"{where}{column.name}"
                if not column.name or (_ILLEGAL_IN_NAMES & set(column.name) and not mapped):
                    raise InvalidRequest(
                        f"column name {path!r} contains one of ' ,;{{}}()\\n\\t=': rename it, or make "
                        "the table with delta.columnMapping.mode=name",
                        code="DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
                    )
                if column.name.lower() in seen:
                    raise InvalidRequest(
                        f"column {path!r} appears twice (names are compared ignoring case): rename one",
                        code="DELTA_DUPLICATE_COLUMNS_FOUND",
                    )
                if not column.nullable and where:
                    raise InvalidRequest(
                        f"NOT NULL on the nested column {path!r} cannot be enforced: make it nullable",
                        code="DELTA_NESTED_NOT_NULL_CONSTRAINT",
                    )
                seen.add(column.name.lower())
                _check_names(column.type, f"{path}.", mapped=mapped)
        case Array(element, _):
            _check_names(element, f"{where}element.", mapped=mapped)
        case Map(key, value, _):
            _check_names(key, f"{where}key.", mapped=mapped)
            _check_names(value, f"{where}value.", mapped=mapped)
        case Primitive(name):
            if not _STORABLE.fullmatch(name):
                raise InvalidRequest(
                    f"column {where[:-1]!r} is of type {name}, which this version of Headgate cannot store: "
                    "use a numeric, string, binary, boolean, date or timestamp type",
                    code="DELTA_UNSUPPORTED_DATA_TYPES",
                )
