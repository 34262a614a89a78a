"""Which columns of a table have statistics in its log.

The first 32, or as many as a property says, or those that a property names; and whatever the table
is clustered by, since clustering without statistics helps nobody.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import Path
from headgate.protocol.schema.types import Struct, leaf_columns

_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^`.,]+))\s*([.,]|$)")


def indexed_paths(metadata: Metadata, clustering: Iterable[Path] = ()) -> frozenset[Path]:
    """The columns with statistics, by their physical paths; ``clustering`` is by these too."""
    schema = schema_json.parse(metadata.schema_string)
    partitioned = {name.lower() for name in metadata.partition_columns}
    stored = Struct(tuple(field for field in schema.fields if field.name.lower() not in partitioned))
    physical = column_mapping.physical_paths(stored, column_mapping.mapping_mode(metadata))
    chosen = {physical.get(path, path) for path in _indexed_leaves(stored, metadata)}
    return frozenset(
        chosen
        | _leaves_below(
            column_mapping.physical_schema(stored, column_mapping.mapping_mode(metadata)), clustering
        )
    )


def parse_stats_columns(text: str) -> tuple[Path, ...]:
    """The columns of a list such as ``id, address.city, `odd, name```."""
    found: list[Path] = []
    path: list[str] = []
    position = 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            raise InvalidRequest(
                f"{text!r} is not a list of columns: put commas between them, and odd names into backticks"
            )
        path.append(part[1].replace("``", "`") if part[1] is not None else part[2].strip())
        if part[3] != ".":
            found.append(tuple(path))
            path = []
        position = part.end()
    return tuple(found)


def _indexed_leaves(stored: Struct, metadata: Metadata) -> Iterator[Path]:
    named = metadata.configuration.get(property_values.STATS_COLUMNS)
    if named is not None:
        yield from _leaves_below(stored, parse_stats_columns(named))
        return
    count = property_values.whole_number(metadata, property_values.STATS_COLUMN_COUNT)
    yield from (path for path, _ in islice(leaf_columns(stored), None if count < 0 else count))


def _leaves_below(schema: Struct, columns: Iterable[Path]) -> set[Path]:
    """The leaves of these columns, which are found ignoring case."""
    wanted = [tuple(part.lower() for part in path) for path in columns]
    return {
        path
        for path, _ in leaf_columns(schema)
        if any(tuple(part.lower() for part in path[: len(one)]) == one for one in wanted)
    }
