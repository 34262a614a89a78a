"""Which casts of ``implicit_casts`` can be done without Spark? Those that keep every value, or refuse it.

An integer that is too large for its column, or a decimal with more digits, is refused when it is met. A text
that is to be a number is Spark's to read.
"""

from collections.abc import Mapping

from headgate.arrow.arrow_types import NEEDS_SPARK
from headgate.errors import UnsupportedFeature
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct, describe_type

_INTEGERS = ("byte", "short", "integer", "long")
_TARGETS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_INTEGERS, (*_INTEGERS, "double", "decimal")),
    "float": ("double",),
    "decimal": ("decimal",),
    "date": ("timestamp_ntz",),
}


def check_castable(found: Struct, wanted: Struct) -> None:
    """Refuse rows of which a column takes a cast that only Spark can do."""
    for field in found.fields:
        column = wanted.find(field.name)
        if column is not None:
            _check_type(field.type, column.type, field.name)


def _check_type(found: DataType, wanted: DataType, name: str) -> None:
    match found, wanted:
        case Primitive("void"), _:
            return
        case Primitive(one), Primitive(other):
            if one != other and _kind(other) not in _TARGETS.get(_kind(one), ()):
                raise UnsupportedFeature(
                    f"column {name!r} is {describe_type(wanted)} in the table and {describe_type(found)} in "
                    "the rows, which only Spark casts: bring values of the column's type, or append a "
                    "DataFrame of Spark",
                    code=NEEDS_SPARK, features=("implicit_casts",), operation="append",
                )  # fmt: skip
        case Struct(), Struct():
            check_castable(found, wanted)
        case Array(one, _), Array(other, _):
            _check_type(one, other, f"{name}.element")
        case Map(key, value, _), Map(other_key, other_value, _):
            _check_type(key, other_key, f"{name}.key")
            _check_type(value, other_value, f"{name}.value")
        case _:
            return


def _kind(name: str) -> str:
    return name.partition("(")[0]
