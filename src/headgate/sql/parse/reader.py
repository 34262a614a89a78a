"""How is a statement read from its tokens: word by word, name by name, and the pieces of SQL in it?

A reader goes forward only. It remembers every table that the pieces mention, for the whole statement.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.errors import InvalidRequest
from headgate.sql.parse import syntax_errors
from headgate.sql.parse.found_tables import FoundTables, shift_offsets
from headgate.sql.parse.literals import (
    SYNTAX_ERROR,
    joined_strings,
    name_parts,
    named_table,
    parameter_there,
    string_value,
)
from headgate.sql.parse.relation_names import identifier_ref
from headgate.sql.parse.relations import Place, find_tables
from headgate.sql.parse.table_suffix import plain_text, property_key, property_value, read_as_of
from headgate.sql.parse.tokens import NUMBER, STRING, SqlToken, SqlTokens
from headgate.sql.parse.value_end import skip_name
from headgate.sql.statements.sql_text import (
    AsOf,
    ParameterMention,
    Properties,
    QualifierMention,
    SqlParameter,
    SqlText,
    TableMention,
    TableRef,
)

Names = tuple[str, ...]


@dataclass(slots=True)
class StatementReader:
    """Goes through the tokens of one statement."""

    tokens: SqlTokens
    index: int = 0
    begin: int = 0
    """Where it begins: behind EXPLAIN."""
    form: str = ""
    """How the statement is written, for refusals."""
    table: TableRef | None = None
    """What it is about, once that is read."""
    ctes: Names = ()
    """What a WITH clause before the statement names."""
    with_clause: SqlText | None = None
    """That clause."""
    mentions: dict[int, TableMention] = field(default_factory=dict)
    parameters: dict[int, ParameterMention] = field(default_factory=dict)
    qualifiers: dict[int, QualifierMention] = field(default_factory=dict)

    @property
    def next(self) -> SqlToken:
        return self.tokens[self.index]

    @property
    def word(self) -> str:
        """The next word in lower case; nothing if something else comes."""
        return self.tokens.word(self.index)

    @property
    def is_at_end(self) -> bool:
        return self.index >= self.tokens.stop

    def ahead(self, count: int) -> str:
        """The word after so many tokens."""
        return self.tokens.word(self.index + count)

    def sees(self, *wanted: str) -> bool:
        """Whether these words and signs come next."""
        return all(
            want in (self.tokens.word(self.index + count), self.tokens.sign(self.index + count))
            for count, want in enumerate(wanted)
        )

    def accepts(self, *wanted: str) -> bool:
        """Whether these words and signs come next; if so they are taken."""
        found = self.sees(*wanted)
        self.index += len(wanted) if found else 0
        return found

    def accepts_any(self, *wanted: str) -> str:
        """Take the next word if it is one of these; nothing if it is not."""
        found = self.word if self.word in wanted else ""
        self.index += bool(found)
        return found

    def require(self, *wanted: str) -> None:
        """Take these words and signs, which must come next."""
        for want in wanted:
            if not self.accepts(want):
                raise self.unexpected(want.upper())

    def unexpected(self, expected: str, *, code: str = SYNTAX_ERROR) -> InvalidRequest:
        """What is said where something else was to be."""
        return syntax_errors.syntax_error(
            self.tokens, self.index, expected, form=self.form, table=self.table, code=code
        )

    def require_end(self) -> None:
        """Nothing may follow."""
        if not self.is_at_end:
            raise self.unexpected("the end of the statement")

    def name(self, what: str = "a name") -> str:
        """One part of a name."""
        if not self.next.is_name:
            raise self.unexpected(what)
        found = self.next.name
        self.index += 1
        return found

    def names(self, what: str = "a name") -> Names:
        """A name of one or several parts."""
        if not self.next.is_name:
            raise self.unexpected(what)
        begin, self.index = self.index, skip_name(self.tokens, self.index)
        return name_parts(self.tokens, begin, self.index)

    def dotted(self, what: str = "the name of a column") -> str:
        """A name as it is written, with its dots and backticks."""
        begin = self.index
        self.names(what)
        return self.tokens.slice(begin, self.index)

    def table_ref(self) -> TableRef:
        """The name of a table, a path, or IDENTIFIER(…)."""
        if self.word == "identifier" and self.tokens.sign(self.index + 1) == "(":
            ref = identifier_ref(self.tokens, self.index)
            if ref is None:
                self.index += 2
                raise self.unexpected("a literal or a parameter")
            self.index = self.tokens.after_group(self.index + 1)
            return ref
        return named_table(self.names("the name of a table"))

    def target(self) -> TableRef:
        """The table that the statement is about."""
        self.table = self.table_ref()
        return self.table

    def path_or_target(self) -> TableRef:
        """The table that the statement is about, by its name or by its path in quotes."""
        if self.next.kind == STRING:
            self.table = TableRef(path=self.string())
            return self.table
        return self.target()

    def string(self, what: str = "a text in quotes") -> str:
        """What a literal says, or several that follow one another."""
        if self.next.kind != STRING:
            raise self.unexpected(what)
        found, stop = joined_strings(self.tokens, self.index)
        if found is None:
            raise self.unexpected("a text whose quotes all Sparks read alike, with \\ before a quote in it,")
        self.index = stop
        return found

    def one_string(self, what: str) -> str:
        """What one literal says, whatever follows it."""
        found = string_value(self.next.text) if self.next.kind == STRING else None
        if found is None:
            raise self.unexpected(what)
        self.index += 1
        return found

    def name_or_string(self, what: str) -> str:
        """A name, or the same in quotes."""
        return self.string(what) if self.next.kind == STRING else self.name(what)

    def number(self, what: str = "a number") -> str:
        """The text of a number, perhaps with a minus."""
        sign = "-" if self.accepts("-") else ""
        if self.next.kind != NUMBER:
            raise self.unexpected(what)
        self.index += 1
        return sign + self.tokens[self.index - 1].text

    def parameter(self) -> SqlParameter | None:
        """The parameter that comes next; None if there is none."""
        begin = self.index
        found, self.index = parameter_there(self.tokens, self.index)
        if found is not None:
            start, end = self.tokens[begin].start, self.tokens.end_of(self.index - 1)
            self.parameters[start] = ParameterMention(start, end, found)
        return found

    def as_of(self) -> AsOf | None:
        """VERSION or TIMESTAMP AS OF, or @v3; None if neither comes next."""
        begin = self.index
        found, self.index = read_as_of(self.tokens, self.index)
        for each in plain_text(self.tokens, begin, self.index).parameters if found else ():
            offset = self.tokens[begin].start
            start, end = each.start + offset, each.end + offset
            self.parameters[start] = ParameterMention(start, end, each.parameter)
        return found

    def in_list(self, read: Callable[[], str]) -> Names:
        """``(a, b)``: what ``read`` takes, again and again."""
        self.require("(")
        found = [read()]
        while self.accepts(","):
            found.append(read())
        self.require(")")
        return tuple(found)

    def column_list(self) -> Names:
        """``(a, b)``, names of one part."""
        return self.in_list(lambda: self.name("the name of a column"))

    def properties(self) -> Properties:
        """``('key' = 'value', …)``; the sign between them may be missing, and so may a value."""
        self.require("(")
        found: list[tuple[str, str]] = []
        while True:
            found.append(self._property())
            if not self.accepts(","):
                break
        self.require(")")
        return tuple(found)

    def _property(self) -> tuple[str, str]:
        key, self.index = property_key(self.tokens, self.index)
        if key is None:
            raise self.unexpected("the key of a property")
        is_said = self.accepts("=") or self.accepts("==")
        value, self.index = property_value(self.tokens, self.index)
        if value is None and is_said:
            raise self.unexpected("the value of a property: a text in quotes, a number, true or false")
        return key, value or ""

    def property_keys(self) -> Names:
        """``('key', …)``; values behind the keys are skipped, as Spark does."""
        return tuple(key for key, _ in self.properties())

    def group(self) -> tuple[int, int]:
        """The tokens within the parenthesis that comes next, which is taken."""
        if not self.sees("(") or self.index not in self.tokens.closes:
            self.require("(")
            self.index = self.tokens.stop
            raise self.unexpected("a closing parenthesis")
        begin, close = self.index + 1, self.tokens.closes[self.index]
        self.index = close + 1
        return begin, close

    def group_text(self) -> str:
        """The text within the parenthesis that comes next."""
        begin, stop = self.group()
        return self.tokens.slice(begin, stop)

    def seek(self, *stops: str) -> int:
        """The first token, outside of parentheses and CASE, that is one of these; the end if none is."""
        index, cases = self.index, 0
        while index < self.tokens.stop:
            token = self.tokens[index]
            if cases == 0 and (token.sign or token.word) in stops and self.tokens.sign(index - 1) != ".":
                break
            if self.tokens.sign(index - 1) != ".":
                cases = max(0, cases + (token.word == "case") - (token.word == "end"))
            index = self.tokens.after_group(index) if token.sign in ("(", "[") else index + 1
        return index

    def expression(self, what: str, *stops: str) -> SqlText:
        """The expression up to one of these words or signs, or to the end."""
        stop = self.seek(*stops)
        if stop == self.index:
            raise self.unexpected(what)
        return self.piece(stop, Place.EXPRESSION)

    def piece(self, stop: int, place: Place) -> SqlText:
        """The text up to a token, and the tables in it."""
        begin, self.index = self.index, stop
        found = find_tables(self.tokens, begin, stop, place, self.ctes)
        self.remember(found)
        return shift_offsets(found, self.tokens.slice(begin, stop), self.tokens[begin].start)

    def piece_between(self, begin: int, stop: int, place: Place = Place.EXPRESSION) -> SqlText:
        """The text between two tokens, and the tables in it; the reader stays where it is."""
        here, self.index = self.index, begin
        if begin >= stop:
            raise self.unexpected("an expression")
        found = self.piece(stop, place)
        self.index = here
        return found

    def query(self, stop: int | None = None) -> SqlText:
        """The query up to a token or the end."""
        if self.is_at_end or not (self.word in _QUERY_WORDS or self.sees("(")):
            raise self.unexpected("a query")
        return self.piece(self.tokens.stop if stop is None else stop, Place.QUERY)

    def remember(self, found: FoundTables) -> None:
        """Keep what a piece mentions for the whole statement."""
        self.mentions |= {each.start: each for each in found.mentions}
        self.parameters |= {each.start: each for each in found.parameters}
        self.qualifiers |= {each.start: each for each in found.qualifiers}

    def whole(self) -> SqlText:
        """The whole text with everything that was found in it."""
        return SqlText(
            self.tokens.text,
            tuple(self.mentions[start] for start in sorted(self.mentions)),
            tuple(self.parameters[start] for start in sorted(self.parameters)),
            tuple(self.qualifiers[start] for start in sorted(self.qualifiers)),
        )


_QUERY_WORDS = frozenset({"select", "with", "from", "values", "table", "map", "reduce"})
