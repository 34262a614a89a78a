"""What type does a column of a checkpoint have, whatever the Arrow of its writer called it?

Parquet knows one kind of text and one of list. Arrow knows several, some of which it can hardly compute
with, and a file may say which of them its writer had.
"""

import pyarrow as pa

from headgate.protocol.schema import arrow_kinds

_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_VALUES = ("stats_parsed", "partitionValues_parsed")
"""Fields with values of the table's columns, where bytes need not be text."""


def action_column(batch: pa.RecordBatch, name: str) -> pa.StructArray:
    """An action's column, its texts as texts and its lists as lists."""
    found = batch.column(name)
    wanted = plain_type(found.type)
    return found if found.type == wanted else found.cast(wanted)


def plain_type(kind: pa.DataType, *, texts: bool = True) -> pa.DataType:
    """The type that Parquet has for these values; bytes that are ``texts`` become such."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type, texts=texts)
    if pa.types.is_struct(kind):
        return pa.struct(
            [
                pa.field(part.name, plain_type(part.type, texts=texts and part.name not in _VALUES))
                for part in kind
            ]
        )
    if pa.types.is_map(kind):
        return pa.map_(plain_type(kind.key_type, texts=texts), plain_type(kind.item_type, texts=texts))
    if arrow_kinds.is_list(kind):
        return pa.list_(plain_type(kind.value_type, texts=texts))
    if any(is_text(kind) for is_text in _TEXTS):
        return pa.string()
    if any(is_bytes(kind) for is_bytes in _BYTES):
        return pa.string() if texts else pa.binary()
    return kind
