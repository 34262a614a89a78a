"""How does SQL text that a table keeps become a column? Only here, and only if it may be evaluated.

A table by its path may be anybody's, and so may a table that was in a catalog before it asked. So the text
is looked at again, whoever let it in.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.protocol.metadata import stored_expressions
from headgate.protocol.metadata.sql_functions import ExpressionPlace
from headgate.protocol.schema.types import Field


def constraint(text: str, name: str) -> Column:
    """Whether a row meets a CHECK constraint; what is neither true nor false is not true."""
    return F.coalesce(
        F.expr(stored_expressions.check_expression(text, ExpressionPlace.CONSTRAINT, name)), F.expr("false")
    )


def invariant(field: Field) -> tuple[str, Column]:
    """The invariant of a column, which has one, and whether a row meets it."""
    text = stored_expressions.check_invariant(field.metadata[stored_expressions.INVARIANT], field.name)
    return text, F.coalesce(F.expr(text), F.expr("false"))


def generation_expression(field: Field) -> Column:
    """What a generated column is computed as."""
    text = field.metadata[stored_expressions.GENERATED]
    return F.expr(stored_expressions.check_expression(text, ExpressionPlace.GENERATED, field.name))


def default_expression(field: Field) -> Column:
    """What a column is by default, which has one."""
    text = field.metadata[stored_expressions.DEFAULT]
    return F.expr(stored_expressions.check_expression(text, ExpressionPlace.DEFAULT, field.name))
