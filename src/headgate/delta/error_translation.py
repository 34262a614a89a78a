"""Which exception of Delta's does a user of ``delta.tables`` expect for an error of ours?

``ERRORS`` has a row for each; the first that fits decides. Error class and SQLSTATE are those of the error:
its ``code`` is Delta's own wherever there is one. What is raised has our error as its ``__cause__``.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import ParamSpec, TypeVar

from pyspark.errors import (
    AnalysisException,
    IllegalArgumentException,
    ParseException,
    PySparkException,
    SparkRuntimeException,
    UnsupportedOperationException,
)

from headgate import errors
from headgate.delta import exceptions
from headgate.errors import HeadgateError
from headgate.sqlstates import SQLSTATES

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
Class = TypeVar("Class", bound=type)


@dataclass(frozen=True, slots=True)
class TranslatedError:
    """A row: an error of ours, perhaps only with these codes, and what is raised for it."""

    error: type[HeadgateError]
    raised: type[PySparkException]
    codes: tuple[str, ...] = ()
    """The beginnings of its codes; none if it is any of them."""
    condition: str | None = None
    """The error class, where Delta's is another than the error's code."""

    def fits(self, error: HeadgateError) -> bool:
        """Whether the row is about this error."""
        return isinstance(error, self.error) and (not self.codes or error.code.startswith(self.codes))


ERRORS: tuple[TranslatedError, ...] = (
    TranslatedError(errors.ProtocolChanged, exceptions.ProtocolChangedException),
    TranslatedError(errors.MetadataChanged, exceptions.MetadataChangedException),
    TranslatedError(errors.ConcurrentAppend, exceptions.ConcurrentAppendException),
    TranslatedError(errors.ConcurrentDeleteRead, exceptions.ConcurrentDeleteReadException),
    TranslatedError(errors.ConcurrentDeleteDelete, exceptions.ConcurrentDeleteDeleteException),
    TranslatedError(errors.ConcurrentTransaction, exceptions.ConcurrentTransactionException),
    TranslatedError(errors.ConcurrentWrite, exceptions.ConcurrentWriteException),
    TranslatedError(errors.ConflictError, exceptions.DeltaConcurrentModificationException),
    TranslatedError(
        errors.TableNotFound, AnalysisException, ("DELTA_TABLE_NOT_FOUND",), "DELTA_MISSING_DELTA_TABLE"
    ),
    TranslatedError(errors.TableExists, AnalysisException, (), "TABLE_OR_VIEW_ALREADY_EXISTS"),
    TranslatedError(
        errors.InvalidRequest,
        AnalysisException,
        ("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",),
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
    ),
    TranslatedError(errors.UserError, ParseException, ("PARSE_", "UNSUPPORTED_DATATYPE")),
    TranslatedError(
        errors.UserError,
        IllegalArgumentException,
        (
            "DELTA_MODE_NOT_SUPPORTED",
            "DELTA_TABLE_FOR_PATH_UNSUPPORTED_HADOOP_CONF",
            "DELTA_VACUUM_RETENTION_PERIOD",
            "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
        ),
    ),
    TranslatedError(
        errors.UserError,
        UnsupportedOperationException,
        (
            "DELTA_CANNOT_MODIFY_APPEND_ONLY",
            "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE",
            "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
        ),
    ),
    TranslatedError(errors.ConstraintViolated, SparkRuntimeException),
    TranslatedError(errors.UserError, AnalysisException),
    TranslatedError(errors.HeadgateError, PySparkException),
)


def translate(error: HeadgateError) -> PySparkException:
    """What is raised in place of an error, with its words, error class and SQLSTATE."""
    row = next(row for row in ERRORS if row.fits(error))
    cause = error.cause
    condition = row.condition or error.code
    state = SQLSTATES.get(condition) or (cause.getSqlState() if isinstance(cause, PySparkException) else None)
    told = error.message if state is None else f"{error.message} SQLSTATE: {state}"
    raised = row.raised(message=told, errorClass=condition, messageParameters={})
    # PySpark looks the state up among its own error classes, which do not have Delta's.
    raised.getSqlState = partial(_sqlstate_of, state)  # type: ignore[method-assign]
    return raised


def delta_calls(cls: Class) -> Class:
    """Have every public method of a class raise what ``delta.tables`` raises."""
    for name, member in vars(cls).copy().items():
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod):
            setattr(cls, name, classmethod(delta_call(member.__func__)))
        elif inspect.isfunction(member):
            setattr(cls, name, delta_call(member))
    return cls


def delta_call(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Have a function raise what ``delta.tables`` raises."""

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        try:
            return function(*args, **kwargs)
        except HeadgateError as error:
            raise translate(error) from error

    return call


def _sqlstate_of(state: str | None) -> str | None:
    return state
