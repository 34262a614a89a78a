"""What is known of a command before it is loaded? A row: its name, where it is, and a line for the list."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A command by its name, and where its function is; or a noun with the verbs that it takes."""

    name: str
    function: str = ""
    summary: str = ""
    """The first line of the function's docstring, or the help of a group of commands."""
    verbs: tuple["LazyCommand", ...] = ()
    default_verb: str | None = None
    """The verb that is meant where none is written, as before there were verbs."""
    runs_bare: bool = False
    """Whether the noun alone means that verb too, rather than a question for help."""
    database_only: bool = False
    """Whether it works where the lake's folder or database can be reached, and not through a server."""
    instead: str | None = None
    """What the command is called, if this is an older name of it, which is not listed and keeps working."""


def leaf_commands(
    rows: tuple[LazyCommand, ...], before: tuple[str, ...] = ()
) -> Iterator[tuple[str, LazyCommand]]:
    """Every command that does something, by all of its words."""
    for row in rows:
        words = (*before, row.name)
        if row.verbs:
            yield from leaf_commands(row.verbs, words)
        else:
            yield " ".join(words), row
