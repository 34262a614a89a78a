"""How does a new table keep the CHECK constraints that its columns were declared with? As properties.

There are no rows that could break them, so only the text is looked at: it may be evaluated, it is a
condition, and it is about columns of the table.
"""

from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headgate.errors import InvalidRequest
from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.sql_functions import ExpressionPlace
from headgate.protocol.metadata.table_properties import CONSTRAINT_PREFIX
from headgate.protocol.schema import expression_columns
from headgate.protocol.schema.types import Struct

_NO_CONDITIONS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.DPipe, exp.Concat, exp.Literal)


def constraint_properties(constraints: Mapping[str, str], schema: Struct) -> Mapping[str, str]:
    """The properties of a table with these constraints; refused if one cannot be one."""
    for name, text in constraints.items():
        if not name or "." in name or not name.isprintable():
            raise InvalidRequest(
                f"{name!r} is not a name for a constraint: use letters, digits and underscores"
            )
        stored_expressions.check_expression(text, ExpressionPlace.CONSTRAINT, name)
        _check_condition(name, text, schema)
    return {f"{CONSTRAINT_PREFIX}{name.lower()}": text for name, text in constraints.items()}


def _check_condition(name: str, text: str, schema: Struct) -> None:
    named = expression_columns.top_level_columns(text)
    if named is None:
        raise InvalidRequest(f"the constraint {name!r} ({text}) is not a condition: correct it")
    unknown = sorted(column for column in named if schema.find(column) is None)
    if unknown:
        known = ", ".join(field.name for field in schema.fields)
        raise InvalidRequest(
            f"the constraint {name!r} ({text}) is about {unknown[0]!r}, which is no column of the table: it "
            f"has {known}"
        )
    if isinstance(_bare(text), _NO_CONDITIONS):
        raise InvalidRequest(
            f"the constraint {name!r} ({text}) is a value: write a condition that is true or false",
            code="DELTA_NON_BOOLEAN_CHECK_CONSTRAINT",
        )


def _bare(text: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(text, dialect="databricks").unnest()
    except (SqlglotError, RecursionError):
        return None
