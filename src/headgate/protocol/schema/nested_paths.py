"""Which column is a path about, and what of its arrays and maps? Their parts are element, key and value."""

from dataclasses import replace

from headgate.protocol.schema.types import Array, DataType, Map, Struct

Path = tuple[str, ...]


def split_path(schema: Struct, path: Path) -> tuple[Path, Path] | None:
    """The path of the innermost column, and the parts within its type; None if there is no such column."""
    reached: DataType | None = schema
    columns = 0
    for at, name in enumerate(path, 1):
        if isinstance(reached, Struct):
            columns = at
        reached = _part(reached, name)
        if reached is None:
            return None
    return path[:columns], path[columns:]


def _part(data_type: DataType | None, name: str) -> DataType | None:
    match data_type, name.lower():
        case Struct(), _:
            column = data_type.find(name)
            return None if column is None else column.type
        case (Array(found, _), "element") | (Map(found, _, _), "key") | (Map(_, found, _), "value"):
            return found
        case _:
            return None


def replace_part(data_type: DataType, parts: Path, to: DataType) -> DataType:
    """The type with another one in the place of a part, which is there."""
    if not parts:
        return to
    match data_type, parts[0].lower():
        case Array(element, _), _:
            return replace(data_type, element=replace_part(element, parts[1:], to))
        case Map(key, _, _), "key":
            return replace(data_type, key=replace_part(key, parts[1:], to))
        case Map(_, value, _), _:
            return replace(data_type, value=replace_part(value, parts[1:], to))
        case _:
            return data_type
