"""CHAR and VARCHAR columns, which are stored as strings: padded, and never longer than they say."""

import re

import pyarrow as pa
import pyarrow.compute as pc

from headgate.errors import ConstraintViolated
from headgate.protocol.schema.types import Field

TYPE_STRING_KEY = "__CHAR_VARCHAR_TYPE_STRING"
_TYPE = re.compile(r"(char|varchar)\((\d+)\)")


def pad_and_check_length(values: pa.ChunkedArray, field: Field) -> pa.ChunkedArray:
    """The texts as the column stores them; one that is too long is refused, spaces at its end apart."""
    declared = _TYPE.fullmatch(str(field.metadata.get(TYPE_STRING_KEY, "")))
    if declared is None:
        return values
    kind, length = declared[1], int(declared[2])
    too_long = pc.greater(pc.utf8_length(pc.utf8_rtrim(values, " ")), length)
    if pc.any(too_long).as_py():
        first = values.filter(too_long)[0].as_py()
        raise ConstraintViolated(
            f"the value {first[:80]!r} does not fit into a column of type {declared[0]}; nothing was "
            "committed: cast or filter such rows, or widen the column",
            code="DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
            constraint=declared[0],
        )
    cut = pc.utf8_slice_codeunits(values, 0, length)
    return pc.utf8_rpad(cut, length, " ") if kind == "char" else cut
