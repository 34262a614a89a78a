"""By which code does an error of SQL go? By Delta Spark's, whose analyser looks at names before we do.

A call of Python knows a missing column as DELTA_COLUMN_NOT_FOUND_IN_SCHEMA; in SQL Spark's analyser meets it
first, and has a code of its own. The rows say which, for each kind of statement.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from headgate.errors import HeadgateError
from headgate.sql.statements import alter, create, describe, dml, maintenance

_UNRESOLVED = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
_OVERFLOW = "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"


@dataclass(frozen=True, slots=True)
class ErrorCodeRow:
    """One row: statements, the code of the call, and that of the statement."""

    commands: tuple[type, ...]
    called: str
    stated: str


_ROWS_CHANGE = (dml.UpdateTable, dml.DeleteFrom)
_NAMED = (create.UndropTable, alter.RenameTable)
CODES: tuple[ErrorCodeRow, ...] = (
    ErrorCodeRow(_NAMED, "DELTA_TABLE_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"),
    ErrorCodeRow(_NAMED, "DELTA_TABLE_ALREADY_EXISTS", "TABLE_OR_VIEW_ALREADY_EXISTS"),
    ErrorCodeRow((alter.AddColumns,), "DELTA_DUPLICATE_COLUMNS_FOUND", "FIELD_ALREADY_EXISTS"),
    ErrorCodeRow((alter.AddColumns,), "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "FIELD_NOT_FOUND"),
    ErrorCodeRow(
        (alter.AddColumns,), "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "DELTA_OPERATION_NOT_ALLOWED"
    ),
    ErrorCodeRow((alter.AddColumns,), "DELTA_ILLEGAL_OPTION", "UNSUPPORTED_DATATYPE"),
    ErrorCodeRow((alter.AddConstraint,), "DELTA_ILLEGAL_OPTION", _UNRESOLVED),
    ErrorCodeRow(
        (alter.ClusterTableBy,),
        "DELTA_CLUSTER_BY_WITH_PARTITIONED_BY",
        "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED",
    ),
    ErrorCodeRow((alter.RenameColumn,), "DELTA_DUPLICATE_COLUMNS_FOUND", "FIELD_ALREADY_EXISTS"),
    ErrorCodeRow(
        (alter.RenameColumn, alter.DropColumns, alter.AlterColumns, describe.DescribeTable),
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        _UNRESOLVED,
    ),
    ErrorCodeRow((dml.InsertInto, *_ROWS_CHANGE), "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", _UNRESOLVED),
    ErrorCodeRow((dml.InsertInto,), "DELTA_DUPLICATE_COLUMNS_FOUND", "COLUMN_ALREADY_EXISTS"),
    ErrorCodeRow(
        (dml.InsertInto,), "DELTA_FAILED_TO_MERGE_FIELDS", "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"
    ),
    ErrorCodeRow((dml.InsertInto,), "DELTA_MISSING_NOT_NULL_COLUMN_VALUE", "DELTA_INSERT_COLUMN_MISMATCH"),
    ErrorCodeRow((dml.InsertInto,), _OVERFLOW, "CAST_OVERFLOW_IN_TABLE_INSERT"),
    ErrorCodeRow((dml.MergeInto,), "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "DELTA_MERGE_UNRESOLVED_EXPRESSION"),
    ErrorCodeRow((dml.MergeInto,), _UNRESOLVED, "DELTA_MERGE_UNRESOLVED_EXPRESSION"),
    ErrorCodeRow(
        (dml.MergeInto,),
        "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
        "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
    ),
    ErrorCodeRow(
        (maintenance.OptimizeTable,), "DELTA_UNSUPPORTED_WHERE_CLAUSE", "DELTA_NON_PARTITION_COLUMN_REFERENCE"
    ),
    ErrorCodeRow(
        (maintenance.OptimizeTable,),
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
    ),
    ErrorCodeRow(
        (maintenance.RestoreTable,),
        "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
        "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER",
    ),
    ErrorCodeRow(
        (maintenance.RestoreTable,),
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
        "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER",
    ),
    ErrorCodeRow((create.CreateTable,), "DELTA_DUPLICATE_COLUMNS_FOUND", "COLUMN_ALREADY_EXISTS"),
    ErrorCodeRow(
        (create.CreateTable,), "DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP", "IDENTITY_COLUMNS_ILLEGAL_STEP"
    ),
    ErrorCodeRow(
        (create.CreateTable,),
        "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
        "ALL_PARTITION_COLUMNS_NOT_ALLOWED",
    ),
)
"""What calls and statements say of the same."""


@contextmanager
def stated_codes(command: object) -> Iterator[None]:
    """Errors that leave this block go by the code that the statement has for them."""
    kinds = (type(command), type(getattr(command, "change", None)))
    try:
        yield
    except HeadgateError as error:
        if error.code == _OVERFLOW and not _is_number(error.fields.get("value")):
            error.code = "CAST_INVALID_INPUT"
        found = (row for row in CODES if row.called == error.code and set(kinds) & set(row.commands))
        row = next(found, None)
        if row is not None:
            error.code = row.stated
        raise


def _is_number(value: object) -> bool:
    """Whether a value that did not fit is one of too many digits, or a text that is none at all."""
    if not isinstance(value, str):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True
