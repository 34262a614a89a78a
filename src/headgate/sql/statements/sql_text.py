"""What does a piece of SQL hold that is handed on: its text, and where in it tables and parameters stand?

The text is a slice of what the user wrote. In ``SELECT * FROM sales.orders VERSION AS OF 3`` there is one
mention, of the table ``sales.orders`` as of version 3; the runner puts a frame in its place.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

Properties = tuple[tuple[str, str], ...]
"""Keys and values in the order of the text."""


@dataclass(frozen=True, slots=True)
class SqlParameter:
    """A parameter in place of a value: ``:name``, or the ``?`` of that number in the statement (from 0)."""

    name: str | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table as a statement names it.

    Exactly one of the three says something: the parts of a name without their quotes, the path of
    delta.`/x` or headgate.`/x`, or the parameter of IDENTIFIER(:name).
    """

    parts: tuple[str, ...] = ()
    path: str | None = None
    parameter: SqlParameter | None = None


@dataclass(frozen=True, slots=True)
class AsOf:
    """Which state of a table is meant: one of the two says something.

    A version is the text of a number or of a literal without its quotes; a timestamp is an expression.
    """

    version: str | SqlParameter | None = None
    timestamp: "SqlText | None" = None


@dataclass(frozen=True, slots=True)
class ChangesRange:
    """Which changes are meant, by table_changes('t', 1, 2) or ``t CHANGES FROM VERSION 1 TO VERSION 2``.

    The ends are expressions: versions if they are numbers and timestamps if they are not, unless
    ``is_timestamp`` says which.
    """

    start: "SqlText"
    end: "SqlText | None" = None
    is_timestamp: bool | None = None
    excludes_start: bool = False
    excludes_end: bool = False


@dataclass(frozen=True, slots=True)
class TableMention:
    """Where a text names a table that it reads, and how. All offsets are within the text that holds it.

    ``[start, end)`` is what another relation takes the place of: the name and what belongs to it (AS OF, WITH
    options, the whole call of table_changes). ``[start, name_end)`` is the name, or the name of the function.
    """

    start: int
    end: int
    ref: TableRef
    as_of: AsOf | None = None
    changes: ChangesRange | None = None
    options: Properties = ()
    """What WITH ('key' = 'value') says behind the name."""
    alias_at: int | None = None
    """Where ``AS name`` must be put if the name is replaced, so that columns can still be qualified with it;
    None if the user gives an alias, and where there is no place for one."""
    is_stream: bool = False
    name_end: int = field(default=-1, compare=False)

    def moved(self, by: int) -> "TableMention":
        """The same mention, in a text that begins elsewhere."""
        alias_at = None if self.alias_at is None else self.alias_at + by
        return replace(
            self, start=self.start + by, end=self.end + by, alias_at=alias_at, name_end=self.name_end + by
        )


@dataclass(frozen=True, slots=True)
class QualifierMention:
    """Where a column is qualified with a name of several parts, ``sales.orders`` in sales.orders.id."""

    start: int
    end: int
    ref: TableRef


@dataclass(frozen=True, slots=True)
class ParameterMention:
    """Where a parameter stands in a text."""

    start: int
    end: int
    parameter: SqlParameter


@dataclass(frozen=True, slots=True)
class SqlText:
    """A slice of the user's text: a query, a relation, a condition, an expression."""

    text: str
    mentions: tuple[TableMention, ...] = ()
    parameters: tuple[ParameterMention, ...] = ()
    qualifiers: tuple[QualifierMention, ...] = ()
    offset: int = field(default=0, compare=False)
    """Where it begins in the whole statement."""

    def followed_by(self, other: "SqlText") -> "SqlText":
        """Both texts with a blank between them, and all that they mention."""
        by = len(self.text) + 1
        return SqlText(
            f"{self.text} {other.text}",
            (*self.mentions, *(each.moved(by) for each in other.mentions)),
            (*self.parameters, *(replace(e, start=e.start + by, end=e.end + by) for e in other.parameters)),
            (*self.qualifiers, *(replace(e, start=e.start + by, end=e.end + by) for e in other.qualifiers)),
            self.offset,
        )

    def replaced(self, frame_name: Callable[[TableMention], str | None], *, is_template: bool = False) -> str:
        """The text for ``spark.sql(text, **frames)`` with ``{frame}`` for the mentions that get a name.

        Where a mention without an alias goes, ``AS`` and the last part of its name come in its place. Braces
        of the text are doubled, unless it is a template already because the user passes frames of their own.
        A text in which nothing is replaced comes back as it is: then give Spark the user's frames only.
        """
        frames = self._frames(frame_name)
        if not frames:
            return self.text
        edits = [(mention.start, mention.end, f"{{{name}}}") for mention, name in frames.items()]
        edits += [_alias_edit(mention) for mention in frames if mention.alias_at is not None]
        gone = {mention.ref for mention in frames}
        edits += [
            (found.start, found.end, _quoted(found.ref.parts[-1]))
            for found in self.qualifiers
            if found.ref in gone
        ]
        return _edited(self.text, sorted(edits), is_template=is_template)

    def _frames(self, frame_name: Callable[[TableMention], str | None]) -> dict[TableMention, str]:
        return {mention: name for mention in self.mentions if (name := frame_name(mention)) is not None}


def _alias_edit(mention: TableMention) -> tuple[int, int, str]:
    at = mention.end if mention.alias_at is None else mention.alias_at
    return at, at, f" AS {_quoted(mention.ref.parts[-1])}"


def _quoted(name: str) -> str:
    return "`{}`".format(name.replace("`", "``").replace("{", "{{").replace("}", "}}"))


def _edited(text: str, edits: list[tuple[int, int, str]], *, is_template: bool) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, new in edits:
        pieces += [_kept(text[position:start], is_template=is_template), new]
        position = end
    return "".join([*pieces, _kept(text[position:], is_template=is_template)])


def _kept(text: str, *, is_template: bool) -> str:
    return text if is_template else text.replace("{", "{{").replace("}", "}}")
