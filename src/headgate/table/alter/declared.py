"""Is the table that is there the one that somebody declares?"""

from headgate.errors import SchemaMismatch
from headgate.protocol.metadata.implicit_changes import normalize_partition_columns
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema import merging
from headgate.protocol.schema.types import Struct, describe_type
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable


def check_declaration(table: OpenedTable, definition: TableDefinition) -> None:
    """Refuse a declaration of columns or a partitioning that the table at this place does not have.

    It may have more columns than are declared: they were added since.
    """
    metadata = table.describe().metadata
    present = schema_json.parse(metadata.schema_string)
    if problems := [
        *_missing_columns(present, definition.schema),
        *_differing_columns(present, definition.schema),
    ]:
        raise SchemaMismatch(
            f"there is a Delta table at {table.location!r} already, with other columns than are declared: "
            f"{'; '.join(problems)}. Open it without columns, add those it lacks with add_columns(…), or "
            "choose another path",
            code="DELTA_CREATE_TABLE_SCHEME_MISMATCH",
            expected=present,
            found=definition.schema,
        )
    wanted = normalize_partition_columns(definition.partition_by, present)
    if wanted and tuple(metadata.partition_columns) != tuple(wanted):
        raise SchemaMismatch(
            f"there is a Delta table at {table.location!r} already, partitioned by "
            f"{', '.join(metadata.partition_columns) or 'nothing'} and not by {', '.join(wanted)}: open it "
            "without partition_by, or choose another path",
            code="DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING",
            expected=tuple(metadata.partition_columns),
            found=wanted,
        )


def _missing_columns(present: Struct, declared: Struct) -> list[str]:
    return [f"it has no column {name!r}" for name in merging.added_columns(present, declared)]


def _differing_columns(present: Struct, declared: Struct) -> list[str]:
    return [
        f"its column {problem.path!r} is {describe_type(problem.table)} and not {describe_type(problem.rows)}"
        for problem in merging.incompatible_types(present, declared)
    ]
