"""Which arguments does ``delta.tables`` refuse before it does anything, and how? By TypeError or ValueError.

Each check raises the exception that Delta's does, so that programs which catch it go on to work.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType

from headgate.spark.rules.identity_columns import IdentityGenerator

Condition = str | Column | None


def check_condition(value: Any, name: str = "condition") -> None:
    """TypeError unless it is SQL, a Column or absent."""
    if value is not None and not isinstance(value, str | Column):
        raise TypeError(f"{name!r} must be a Column or SQL text such as 'id > 5', not {_shown(value)}")


def check_assignments(value: Any, name: str) -> Mapping[str, str | Column]:
    """The dict of columns and values; ValueError if it is missing, TypeError if it is something else."""
    if value is None:
        raise ValueError(f"{name} is missing: give a dict such as {{'amount': 'amount + 1'}}")
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a dict of columns and values, not {_shown(value)}")
    for column, assigned in value.items():
        if not isinstance(column, str):
            raise TypeError(f"{name} must have names of columns as its keys, not {_shown(column)}")
        if not isinstance(assigned, str | Column):
            raise TypeError(
                f"{name} must have Columns or SQL texts as values, not {_shown(assigned)} for {column!r}: "
                "write functions.lit(…) for the value itself"
            )
    return value


def check_source(source: Any, condition: Any) -> None:
    """Refuse what cannot be merged: ValueError if it is missing, TypeError if it is something else."""
    if source is None:
        raise ValueError("a merge needs a 'source', and it is None: give a DataFrame")
    if not isinstance(source, DataFrame):
        raise TypeError(f"the 'source' of a merge must be a DataFrame, not {_shown(source)}")
    if condition is None:
        raise ValueError("a merge needs a 'condition', and it is None: write one such as 't.id = s.id'")
    check_condition(condition)


def check_value(value: Any, kind: type, name: str) -> None:
    """ValueError unless it is of this kind, as methods of DeltaTable have it."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be of type {kind.__name__}, not {_shown(value)}")


def check_texts(name: str, *values: Any) -> None:
    """TypeError unless all of them are texts, as builders have it."""
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a text, not {_shown(value)}")


def column_names(name: str, given: Iterable[Any]) -> tuple[str, ...]:
    """Names of columns, each for itself or in one list; TypeError if one is not a text."""
    found = tuple(given)
    if len(found) == 1 and isinstance(found[0], list | tuple):
        found = tuple(found[0])
    check_texts(name, *found)
    return found


def check_column(data_type: Any, nullable: Any, generated: Any, by_default: Any, comment: Any) -> None:
    """Refuse a column of a builder: TypeError for what is of another type, ValueError for a contradiction."""
    if not isinstance(data_type, str | DataType):
        raise TypeError(f"the type of a column must be a text or a DataType, not {_shown(data_type)}")
    if not isinstance(nullable, bool):
        raise TypeError(f"nullable must be True or False, not {_shown(nullable)}")
    if generated is not None and by_default is not None:
        raise ValueError("a column is generatedAlwaysAs or generatedByDefaultAs, not both")
    if generated is not None and not isinstance(generated, str | IdentityGenerator):
        raise TypeError(f"generatedAlwaysAs must be SQL or an IdentityGenerator, not {_shown(generated)}")
    if by_default is not None and not isinstance(by_default, IdentityGenerator):
        raise TypeError(f"generatedByDefaultAs must be an IdentityGenerator, not {_shown(by_default)}")
    for identity in (generated, by_default):
        if isinstance(identity, IdentityGenerator) and identity.step == 0:
            raise ValueError("the step of an IdentityGenerator must not be 0: its values would all be alike")
    if comment is not None:
        check_texts("the comment of a column", comment)


def _shown(value: Any) -> str:
    return f"{value!r} of type {type(value).__name__}"
