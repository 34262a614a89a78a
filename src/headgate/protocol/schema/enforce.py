"""Do rows of one schema fit a table of another?"""

import re

from headgate.errors import InvalidRequest, SchemaMismatch
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct, describe

_STORABLE = re.compile(
    r"byte|short|integer|long|float|double|decimal\(\d+,\s*\d+\)|string|binary|boolean|date|timestamp(_ntz)?"
)
_ILLEGAL_IN_NAMES = set(" ,;{}()\n\t=")


def check_new(schema: Struct) -> None:
    """Refuse a schema no table may have: no columns, duplicates ignoring case, illegal names or types."""
    if not schema.fields:
        raise InvalidRequest("a table needs at least one column", code="DELTA_EMPTY_DATA")
    _check_names(schema, "")


def check_fits(incoming: Struct, table: Struct) -> None:
    """Refuse rows whose columns are not the table's, naming every difference.

    Columns are matched by name ignoring case, in any order; a nullable column may be missing.
    Nullability of the incoming rows is not trusted: it is checked on the rows themselves.
    """
    problems = [
        *(
            f"column {column.name!r} is not in the table: drop it, or add it to the table first"
            for column in incoming.fields
            if table.find(column.name) is None
        ),
        *(
            f"column {column.name!r} is {describe(column.type)} in the table "
            f"but {describe(found.type)} in the rows: cast it"
            for column in table.fields
            if (found := incoming.find(column.name)) and not _same(column.type, found.type)
        ),
        *(
            f"column {column.name!r} is NOT NULL in the table and missing from the rows"
            for column in table.fields
            if not column.nullable and incoming.find(column.name) is None
        ),
    ]
    if problems:
        raise SchemaMismatch(
            "the rows do not fit the table: " + "; ".join(problems), expected=table, found=incoming
        )


def _same(ours: DataType, theirs: DataType) -> bool:
    match ours, theirs:
        case Primitive(one), Primitive(other):
            return one == other
        case Array(one, _), Array(other, _):
            return _same(one, other)
        case Map(key, value, _), Map(other_key, other_value, _):
            return _same(key, other_key) and _same(value, other_value)
        case Struct(fields), Struct(others):
            return len(fields) == len(others) and all(
                part.name.lower() == other.name.lower() and _same(part.type, other.type)
                for part, other in zip(fields, others, strict=True)
            )
        case _:
            return False


def _check_names(data_type: DataType, where: str) -> None:
    match data_type:
        case Struct(fields):
            seen: set[str] = set()
            for column in fields:
                path = f"{where}{column.name}"
                if not column.name or _ILLEGAL_IN_NAMES & set(column.name):
                    raise InvalidRequest(
                        f"column name {path!r} contains one of ' ,;{{}}()\\n\\t=': rename it",
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
                _check_names(column.type, f"{path}.")
        case Array(element, _):
            _check_names(element, f"{where}element.")
        case Map(key, value, _):
            _check_names(key, f"{where}key.")
            _check_names(value, f"{where}value.")
        case Primitive(name):
            if not _STORABLE.fullmatch(name):
                raise InvalidRequest(
                    f"column {where[:-1]!r} is of type {name}, which this version of Headgate cannot store: "
                    "use a numeric, string, binary, boolean, date or timestamp type",
                    code="DELTA_UNSUPPORTED_DATA_TYPES",
                )
