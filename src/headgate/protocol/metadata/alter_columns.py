"""What becomes of a table's metadata when its columns are added, renamed, dropped, moved or described?

Rows are not touched: a file that lacks a new column has nulls there, and with column mapping a
file knows a column by a name that nobody changes. So without it columns can only be added.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import identity_columns
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import alter_properties, char_varchar
from headgate.protocol.schema import (
    column_mapping,
    enforcement,
    expression_columns,
    merging,
    nested_paths,
    type_widening,
)
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.column_path import Path, format_path
from headgate.protocol.schema.merging import MergeOptions
from headgate.protocol.schema.types import Array, DataType, Field, Map, Struct, describe_type
from headgate.protocol.stats import indexed_columns
from headgate.spelling import did_you_mean

_CONSTRAINT, _COLLATIONS = "delta.constraints.", "__COLLATIONS"
_GENERATED, _DEFAULT, _COMMENT = "delta.generationExpression", "CURRENT_DEFAULT", "comment"


@dataclass(frozen=True, slots=True)
class First:
    """Before all other columns."""


@dataclass(frozen=True, slots=True)
class After:
    """Behind the column of this name, in the same struct."""

    name: str


ColumnPosition = First | After | None
"""None is behind all others."""


def add_columns(
    state: State, parent: Path, columns: Sequence[Field], place: ColumnPosition = None
) -> Metadata:
    """The metadata with new columns, in the struct ``parent`` or, if that is empty, at the top."""
    enforcement.check_new_schema(
        char_varchar.as_strings(Struct(tuple(columns))),
        mapped=column_mapping.mapping_mode(state.metadata) is not ColumnMappingMode.NONE,
    )
    for column in columns:
        if not column.nullable:
            raise InvalidRequest(
                f"the new column {column.name!r} cannot be NOT NULL, because the rows that are there have no "
                "value for it: add it as nullable",
                code="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
            )
        if identity_columns.is_identity(column):
            raise InvalidRequest(
                f"the identity column {column.name!r} cannot be added, because the rows that are there would "
                "have no value: make a table with it, and write the rows there",
                code="DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED",
            )

    def with_them(struct: Struct) -> Struct:
        for column in columns:
            _check_name_unused(struct, column.name, parent)
        at = _position(struct.fields, place)
        return Struct((*struct.fields[:at], *columns, *struct.fields[at:]))

    return _checked(_change_struct(state, parent, with_them))


def rename_column(state: State, path: Path, to: str) -> Metadata:
    """The metadata with another name for a column; its files, statistics and clustering stay as they are."""
    _check_mapped(state, path, "renamed", "DELTA_UNSUPPORTED_RENAME_COLUMN")
    _check_independent(state, path)
    if not to:
        raise InvalidRequest(f"column {format_path(path)} cannot be renamed to nothing: give it a name")
    *parent, old = path

    def with_it(struct: Struct) -> Struct:
        column = _find_field(struct, old, path)
        if column.name.lower() != to.lower():
            _check_name_unused(struct, to, tuple(parent))
        return Struct(
            tuple(_rename_field(field, to) if field is column else field for field in struct.fields)
        )

    after = _change_struct(state, tuple(parent), with_it)
    partitions = state.metadata.partition_columns
    if not parent:
        partitions = tuple(to if name.lower() == old.lower() else name for name in partitions)
    after = msgspec.structs.replace(after, partition_columns=partitions)
    return _checked(_with_statistics(after, path, (*parent, to)))


def _rename_field(column: Field, to: str) -> Field:
    """The column under another name, by which its metadata says how its texts compare."""
    if _COLLATIONS not in column.metadata:
        return replace(column, name=to)
    said, old = dict(column.metadata[_COLLATIONS]), column.name
    moved = {f"{to}{path.removeprefix(old)}": collation for path, collation in said.items()}
    return replace(column, name=to, metadata={**column.metadata, _COLLATIONS: moved})


def drop_columns(state: State, paths: Iterable[Path]) -> Metadata:
    """The metadata without these columns; what the files have of them is no longer read."""
    metadata = state.metadata
    for path in paths:
        now = replace(state, metadata=metadata)
        _check_mapped(now, path, "dropped", "DELTA_UNSUPPORTED_DROP_COLUMN")
        _check_independent(now, path)
        _check_no_layout(now, path)
        metadata = _with_statistics(_change_struct(now, path[:-1], _drop_field(path)), path, None)
    return _checked(metadata)


def move_column(state: State, path: Path, place: First | After) -> Metadata:
    """The metadata with a column at another place of its struct."""
    *parent, name = path

    def with_it(struct: Struct) -> Struct:
        column = _find_field(struct, name, path)
        others = tuple(field for field in struct.fields if field is not column)
        at = _position(others, place)
        return Struct((*others[:at], column, *others[at:]))

    return _checked(_change_struct(state, tuple(parent), with_it))


def change_column_type(state: State, path: Path, to: DataType) -> Metadata:
    """The metadata with a wider type for a column, or for what is in its arrays and maps; its files stay.

    The column says what the type was before (spec: type-change-metadata), unless texts may become longer.
    """
    preview = state.protocol.has(type_widening.PREVIEW) and not state.protocol.has("typeWidening")
    allowed = MergeOptions(widening=True, preview_version=state.version + 1 if preview else None)

    def change(column: Field) -> Field:
        if identity_columns.is_identity(column):
            raise InvalidRequest(
                f"the type of the identity column {format_path(of)} must stay BIGINT",
                code="DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED",
            )
        whole = nested_paths.replace_part(column.type, parts, to)
        if char_varchar.is_longer(column.type, whole):
            return replace(column, type=whole)
        if not property_values.flag(state.metadata, property_values.TYPE_WIDENING):
            raise InvalidRequest(
                f"the type of column {format_path(path)} cannot change, because files have values of the one "
                f"it has: for a wider one first set the property {property_values.TYPE_WIDENING} to 'true'",
                code="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
            )
        _check_independent(state, path)
        widened = Struct((Field(column.name, whole),))
        after = column
        if not merging.incompatible_types(Struct((column,)), widened, allowed):
            after = merging.merge_schemas(Struct((column,)), widened, allowed).fields[0]
        if describe_type(after.type) != describe_type(whole):
            raise InvalidRequest(
                f"column {format_path(of)} is {describe_type(column.type)}, and {describe_type(whole)} is "
                "not a wider type: write the values into a new column instead",
                code="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
            )
        return after

    split = nested_paths.split_path(schema_json.parse(state.metadata.schema_string), path)
    if split is None:
        raise _not_found_error(path)
    of, parts = split
    return _change_field(state, of, change)


def drop_not_null(state: State, path: Path) -> Metadata:
    """The metadata with a column that may be null."""
    return _change_field(state, path, lambda column: replace(column, nullable=True))


def set_column_comment(state: State, path: Path, comment: str | None) -> Metadata:
    """The metadata with a comment on a column, or with None without."""

    def change(column: Field) -> Field:
        others = {key: value for key, value in column.metadata.items() if key != _COMMENT}
        return replace(column, metadata=others if comment is None else {**others, _COMMENT: comment})

    return _change_field(state, path, change)


def set_column_default(state: State, path: Path, expression: str | None) -> Metadata:
    """The metadata with what a column is by default, or with None without; rows that are there stay."""
    if expression is not None and not state.protocol.has("allowColumnDefaults"):
        raise InvalidRequest(
            f"column {format_path(path)} cannot have a default, because the table allows none: first set "
            "the property delta.feature.allowColumnDefaults to 'supported'",
            code="WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
        )

    def change(column: Field) -> Field:
        if _GENERATED in column.metadata or identity_columns.is_identity(column):
            raise InvalidRequest(
                f"column {format_path(path)} is computed, so it has no default: leave the default out",
                code="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP",
            )
        others = {key: value for key, value in column.metadata.items() if key != _DEFAULT}
        return replace(column, metadata=others if expression is None else {**others, _DEFAULT: expression})

    return _change_field(state, path, change)


def _change_field(state: State, path: Path, change: Callable[[Field], Field]) -> Metadata:
    *parent, name = path

    def with_it(struct: Struct) -> Struct:
        column = _find_field(struct, name, path)
        return Struct(tuple(change(field) if field is column else field for field in struct.fields))

    return _checked(_change_struct(state, tuple(parent), with_it))


def _drop_field(path: Path) -> Callable[[Struct], Struct]:
    def without_it(struct: Struct) -> Struct:
        column = _find_field(struct, path[-1], path)
        if len(struct.fields) == 1:
            raise InvalidRequest(
                f"column {format_path(path)} is the only one of its struct or table, which must have one: "
                "drop the struct, or the table",
                code="DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA",
            )
        return Struct(tuple(field for field in struct.fields if field is not column))

    return without_it


def _change_struct(state: State, parent: Path, change: Callable[[Struct], Struct]) -> Metadata:
    declared = char_varchar.as_declared(schema_json.parse(state.metadata.schema_string))
    after = char_varchar.as_strings(_struct(_change_at(declared, parent, change, parent), parent))
    return msgspec.structs.replace(state.metadata, schema_string=schema_json.render(after))


def _change_at(data_type: DataType, path: Path, change: Callable[[Struct], Struct], whole: Path) -> DataType:
    """The type, changed in the struct at ``path``; inside arrays and maps by element, key and value."""
    if not path:
        return change(_struct(data_type, whole))
    name, rest = path[0], path[1:]
    match data_type, name.lower():
        case Struct(fields), _:
            column = _find_field(data_type, name, whole)
            inner = replace(column, type=_change_at(column.type, rest, change, whole))
            return Struct(tuple(inner if field is column else field for field in fields))
        case Array(element, contains_null), "element":
            return Array(_change_at(element, rest, change, whole), contains_null)
        case Map(key, value, contains_null), "key":
            return Map(_change_at(key, rest, change, whole), value, contains_null)
        case Map(key, value, contains_null), "value":
            return Map(key, _change_at(value, rest, change, whole), contains_null)
        case _:
            raise _not_found_error(whole)


def _struct(data_type: DataType, path: Path) -> Struct:
    if not isinstance(data_type, Struct):
        raise InvalidRequest(
            f"{format_path(path)} is not a struct, so it has no columns: name one that is",
            code="DELTA_ADD_COLUMN_PARENT_NOT_STRUCT",
        )
    return data_type


def _find_field(struct: Struct, name: str, path: Path) -> Field:
    column = struct.find(name)
    if column is None:
        raise _not_found_error(path, did_you_mean(name, (field.name for field in struct.fields)))
    return column


def _not_found_error(path: Path, near: str = "") -> InvalidRequest:
    return InvalidRequest(
        f"the table has no column {format_path(path)}:{near or ' correct the name'}",
        code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
    )


def _position(fields: Sequence[Field], place: ColumnPosition) -> int:
    match place:
        case None:
            return len(fields)
        case First():
            return 0
        case After(name):
            at = next((at for at, field in enumerate(fields) if field.name.lower() == name.lower()), None)
            if at is None:
                raise InvalidRequest(
                    f"there is no column {name!r} in the same struct to put it behind:"
                    f"{did_you_mean(name, (field.name for field in fields)) or ' correct the name'}",
                    code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
                )
            return at + 1


def _check_name_unused(struct: Struct, name: str, parent: Path) -> None:
    if struct.find(name) is not None:
        raise InvalidRequest(
            f"there is already a column {format_path((*parent, name))} (names are compared ignoring case): "
            "choose another name",
            code="DELTA_DUPLICATE_COLUMNS_FOUND",
        )


def _check_mapped(state: State, path: Path, done: str, code: str) -> None:
    if column_mapping.mapping_mode(state.metadata) is ColumnMappingMode.NONE:
        _change_field(state, path, lambda column: column)  # first of all it must be there
        raise InvalidRequest(
            f"column {format_path(path)} cannot be {done}, because data files know it by its name: first set "
            f"the property {property_values.COLUMN_MAPPING_MODE} to 'name', which rewrites nothing",
            code=code,
        )


def _check_independent(state: State, path: Path) -> None:
    """Refuse to change a column that a constraint or a generated column is computed from."""
    metadata, name = state.metadata, path[0].lower()
    for key, text in metadata.configuration.items():
        if key.lower().startswith(_CONSTRAINT) and _mentions(text, name):
            raise InvalidRequest(
                f"the constraint {key[len(_CONSTRAINT) :]!r} ({text}) is about column {format_path(path)}: "
                "drop the constraint first",
                code="DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE",
            )
    for column in schema_json.parse(metadata.schema_string).fields:
        text = str(column.metadata.get(_GENERATED, ""))
        if text and column.name.lower() != name and _mentions(text, name):
            raise InvalidRequest(
                f"column {column.name!r} is generated as {text}, so column {format_path(path)} cannot be "
                "changed",
                code="DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE",
            )


def _mentions(expression: str, name: str) -> bool:
    found = expression_columns.top_level_columns(expression)
    return found is None or name in found  # what cannot be read may be about any column


def _check_no_layout(state: State, path: Path) -> None:
    if len(path) == 1 and path[0].lower() in map(str.lower, state.metadata.partition_columns):
        raise InvalidRequest(
            f"column {format_path(path)} cannot be dropped, because the table is partitioned by it",
            code="DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN",
        )
    schema = schema_json.parse(state.metadata.schema_string)
    stored = column_mapping.physical_paths(schema, column_mapping.mapping_mode(state.metadata))
    asked = next((theirs for ours, theirs in stored.items() if _is_same_path(ours, path)), None)
    clustered = lifecycle.clustering_columns(state.domains)
    if asked is not None and any(column[: len(asked)] == asked for column in clustered):
        raise InvalidRequest(
            f"column {format_path(path)} cannot be dropped, because the table is clustered by it: cluster "
            "the table by other columns first",
            code="DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN",
        )


def _is_same_path(one: Path, other: Path) -> bool:
    return [part.lower() for part in one] == [part.lower() for part in other]


def _with_statistics(metadata: Metadata, path: Path, now: Path | None) -> Metadata:
    """The metadata, what it says of the columns with statistics following the change."""
    listed = metadata.configuration.get(property_values.STATS_COLUMNS)
    if listed is None:
        return metadata
    kept = []
    for column in indexed_columns.parse_stats_columns(listed):
        if not _is_same_path(column[: len(path)], path):
            kept.append(column)
        elif now is not None:
            kept.append((*now, *column[len(path) :]))
    configuration = {
        **metadata.configuration,
        property_values.STATS_COLUMNS: ",".join(map(format_path, kept)),
    }
    return msgspec.structs.replace(metadata, configuration=configuration)


def _checked(after: Metadata) -> Metadata:
    identity_columns.check_identity_columns(after)
    alter_properties.check_against_columns(after)
    return after
