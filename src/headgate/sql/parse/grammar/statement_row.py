"""What is a row of the grammar: the words that a statement begins with, and all that is said of it?"""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.sql.parse.reader import StatementReader
from headgate.sql.statements.statement import Command


@dataclass(frozen=True, slots=True)
class StatementRow:
    """One form of a statement. Rows with the same leading words are read by the same function."""

    leads: tuple[str, ...]
    """The words it begins with, in lower case; the reader stands behind them."""
    read: Callable[[StatementReader], Command]
    form: str
    says: str
    """What it does, in one sentence."""
    calls: str
    """The call that does the same, or by which it is done."""
