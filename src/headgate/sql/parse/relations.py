"""Which tables does a query read, and where does it name them?

One pass over the tokens, with a stack of what each parenthesis opened. Only what matters to the question
is understood: where FROM, JOIN and commas lead to a relation, which names WITH makes, what belongs to a name.
Whatever is not understood is left as it is, so that Spark says what it thinks of it.

``extract(DAY FROM x)`` and ``a IS DISTINCT FROM b`` name no table, and in
``WITH t AS (SELECT * FROM t) SELECT * FROM t`` one is named, once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from headgate.sql.parse.ctes import cte_body
from headgate.sql.parse.found_tables import FoundTables
from headgate.sql.parse.literals import parameter_there
from headgate.sql.parse.relation_names import (
    NameChain,
    NamedRelation,
    qualifier_mentions,
    read_relation,
    skip_alias,
)
from headgate.sql.parse.tokens import NUMBER, STRING, SqlToken, SqlTokens
from headgate.sql.parse.value_end import skip_name
from headgate.sql.statements.sql_text import (
    ParameterMention,
    TableMention,
)


class Place(Enum):
    """What may come next, as far as tables are concerned."""

    QUERY = "a query: SELECT, WITH, VALUES, FROM, TABLE"
    EXPRESSION = "expressions"
    RELATION = "a relation"
    BARE_RELATION = "the name of a relation that takes no alias"
    JOINED = "what stands behind a relation: an alias, JOIN, ON, a comma before another one"
    VALUES = "the rows of VALUES among relations"


@dataclass(slots=True)
class _Level:
    """What one parenthesis opened."""

    place: Place
    is_query: bool = False
    """Whether FROM begins a clause here."""
    has_from: bool = False
    is_table_function: bool = False
    ctes: list[str] = field(default_factory=list)
    pending_cte: str | None = None


_VALUE_SIGNS = ("(", "{", "?", ":", "-")
_QUERY_WORDS = frozenset({"select", "with", "from", "values", "table"})


def find_tables(
    tokens: SqlTokens, begin: int, stop: int, place: Place, ctes: Iterable[str] = ()
) -> FoundTables:
    """The tables that are named between two tokens, but for those that ``ctes`` and WITH make."""
    scan = _Scan(tokens.until(stop), begin, begin, [_Level(place)], Counter(name.lower() for name in ctes))
    scan.run()
    return FoundTables(
        tuple(scan.mentions), tuple(scan.parameters), qualifier_mentions(scan.mentions, scan.chains)
    )


@dataclass(slots=True)
class _Scan:
    tokens: SqlTokens
    begin: int
    index: int
    levels: list[_Level]
    ctes: Counter[str]
    mentions: list[TableMention] = field(default_factory=list)
    parameters: list[ParameterMention] = field(default_factory=list)
    chains: list[NameChain] = field(default_factory=list)

    @property
    def level(self) -> _Level:
        return self.levels[-1]

    def run(self) -> None:
        while self.index < self.tokens.stop:
            token = self.tokens[self.index]
            if token.sign:
                self._sign(token)
            elif token.is_name:
                self._name(token)
            else:
                self._other()

    def _other(self) -> None:
        """A literal, in whatever place."""
        if self.level.place in (Place.RELATION, Place.BARE_RELATION):
            self.level.place = Place.JOINED
        elif self.level.place is Place.QUERY:
            self.level.place = Place.EXPRESSION
        self.index += 1

    def _sign(self, token: SqlToken) -> None:
        handler = _SIGNS.get(token.sign)
        if handler is not None:
            handler(self)
            return
        parameter, after = parameter_there(self.tokens, self.index)
        if parameter is not None:
            end = self.tokens.end_of(after - 1)
            self.parameters.append(ParameterMention(token.start, end, parameter))
            self.index = after
            return
        if self.level.place in (Place.QUERY, Place.RELATION, Place.BARE_RELATION):
            self.level.place = Place.EXPRESSION
        self.index += 1

    def _hint(self) -> None:
        while self.index < self.tokens.stop and self.tokens.sign(self.index) != "*/":
            self.index += 1
        self.index += 1

    def _frame(self) -> None:
        """``{df}``, a frame of the user's own."""
        while self.index < self.tokens.stop and self.tokens.sign(self.index) != "}":
            self.index += 1
        self.index += 1
        if self.level.place in (Place.RELATION, Place.BARE_RELATION):
            self.level.place = Place.JOINED
            self.index, _ = skip_alias(self.tokens, self.index)

    def _pipe(self) -> None:
        self.level.place, self.level.is_query, self.level.has_from = Place.EXPRESSION, True, True
        self.index += 1

    def _comma(self) -> None:
        if self.level.place is Place.JOINED and self.level.has_from:
            self.level.place = Place.RELATION
        self.index += 1

    def _open(self) -> None:
        before = self.level.place
        self.levels.append(_Level(self._place_inside(before)))
        outer = self.levels[-2]
        if before in (Place.RELATION, Place.BARE_RELATION):
            self.level.has_from = True
            outer.place = Place.JOINED if before is Place.RELATION else Place.EXPRESSION
        elif before is Place.QUERY:
            outer.place = Place.EXPRESSION
        self.index += 1

    def _place_inside(self, before: Place) -> Place:
        word = self.tokens.word(self.index + 1)
        is_trim = word == "from" and self.tokens.word(self.index - 1) == "trim"
        if word in _QUERY_WORDS and self.tokens.sign(self.index + 2) != "." and not is_trim:
            return Place.QUERY
        if before in (Place.RELATION, Place.BARE_RELATION):
            return before
        nested = before is Place.QUERY and self.tokens.sign(self.index + 1) == "("
        return Place.QUERY if nested else Place.EXPRESSION

    def _close(self) -> None:
        self.index += 1
        if len(self.levels) == 1:
            return
        for name in self.levels.pop().ctes:
            self.ctes[name] -= 1
        if self.level.pending_cte is not None:
            self._define(self.level.pending_cte)
            self.level.pending_cte = None
            if self.tokens.sign(self.index) != "," or not self._cte(self.index + 1):
                self.level.place = Place.QUERY

    def _with(self) -> None:
        is_recursive = self.tokens.word(self.index + 1) == "recursive" and self.tokens.is_name(self.index + 2)
        self.level.is_query = True
        if not self._cte(self.index + 1 + is_recursive, is_recursive=is_recursive):
            self.level.place = Place.EXPRESSION
            self.index += 1

    def _cte(self, index: int, *, is_recursive: bool = False) -> bool:
        """Go into the query of the CTE whose name stands at ``index``; False if there is none."""
        body = cte_body(self.tokens, index)
        if body is None:
            return False
        name = self.tokens[index].name.lower()
        self.level.pending_cte = name
        self.levels.append(_Level(Place.QUERY))
        if is_recursive:
            self._define(name)
        self.index = body + 1
        return True

    def _define(self, name: str) -> None:
        self.ctes[name] += 1
        self.level.ctes.append(name)

    def _name(self, token: SqlToken) -> None:
        if self.level.place in (Place.RELATION, Place.BARE_RELATION):
            self._relation(token)
        elif self.tokens.sign(self.index + 1) == "." and self.tokens.is_name(self.index + 2):
            stop = skip_name(self.tokens, self.index)
            self.chains.append(NameChain.between(self.tokens, self.index, stop))
            self._leave_query()
            self.index = stop
        elif token.word in _KEYWORDS and not self._is_behind_as():
            _KEYWORDS[token.word](self)
        else:
            self._plain_word(token)

    def _is_behind_as(self) -> bool:
        """Whether it is an alias: ``a AS from``."""
        return self.index > self.begin and self.tokens.word(self.index - 1) == "as"

    def _plain_word(self, token: SqlToken) -> None:
        if self.level.place is Place.VALUES and _is_alias(self.tokens, self.index):
            self.index, _ = skip_alias(self.tokens, self.index)
            self.level.place = Place.JOINED
            return
        if token.word not in ("all", "distinct"):
            self._leave_query()
        self.index += 1

    def _leave_query(self) -> None:
        if self.level.place is Place.QUERY:
            self.level.place = Place.EXPRESSION

    def _relation(self, token: SqlToken) -> None:
        if token.word in ("lateral", "table") and not self._ends_relation(self.index + 1):
            self.index += 1
            return
        if token.word == "values" and not self._ends_relation(self.index + 1):
            self.level.place = Place.VALUES
            self.index += 1
            return
        relation = read_relation(self.tokens, self.index, takes_alias=self.level.place is Place.RELATION)
        self.level.place = Place.JOINED if self.level.place is Place.RELATION else Place.EXPRESSION
        if relation.is_function:
            self.index = relation.stop
            self._open()
            self.level.is_table_function = True
            return
        self._add(relation)
        self.index = relation.stop

    def _ends_relation(self, index: int) -> bool:
        """Whether the word before is a name itself, because nothing follows that it could introduce."""
        token = self.tokens[index]
        return not token.is_name and token.kind not in (NUMBER, STRING) and token.sign not in _VALUE_SIGNS

    def _add(self, relation: NamedRelation) -> None:
        mention = relation.mention
        if mention is None or (len(mention.ref.parts) == 1 and self.ctes[mention.ref.parts[0].lower()] > 0):
            return
        self.mentions.append(mention)
        self.parameters += relation.parameters

    def _select(self) -> None:
        self.level.is_query = True
        self._go(Place.EXPRESSION)

    def _from(self) -> None:
        begins = self.level.is_query or self.level.place is Place.QUERY
        if begins and not self._is_distinct_from():
            self.level.is_query = self.level.has_from = True
            self._go(Place.RELATION)
        else:
            self.index += 1

    def _is_distinct_from(self) -> bool:
        words = [self.tokens.word(self.index - back) for back in (1, 2, 3)]
        return words[:2] == ["distinct", "is"] or words == ["distinct", "not", "is"]

    def _join(self) -> None:
        self._go(Place.RELATION if self.level.has_from else self.level.place)

    def _clause(self) -> None:
        """WHERE, GROUP, ORDER and others that come behind the relations."""
        self._go(Place.EXPRESSION)

    def _lateral(self) -> None:
        is_view = self.tokens.word(self.index + 1) == "view"
        self._go(Place.EXPRESSION if is_view else self.level.place)

    def _set_operation(self) -> None:
        self._go(Place.QUERY)

    def _values(self) -> None:
        self._go(Place.EXPRESSION)

    def _table(self) -> None:
        """TABLE t for a query, and among the arguments of a table function."""
        follows = self.tokens.is_name(self.index + 1) or self.tokens.sign(self.index + 1) == "("
        is_argument = self.level.is_table_function and self.tokens.sign(self.index - 1) in ("(", ",", "=>")
        if follows and (self.level.place is Place.QUERY or is_argument):
            self.level.has_from = True
            self._go(Place.BARE_RELATION)
        else:
            self._go(Place.EXPRESSION if self.level.place is Place.QUERY else self.level.place)

    def _with_word(self) -> None:
        if self.level.place is Place.QUERY:
            self._with()
        else:
            self.index += 1

    def _as(self) -> None:
        """An alias, which is no keyword."""
        if self.level.place is Place.VALUES:
            self.level.place = Place.JOINED
        self.index += 1

    def _go(self, place: Place) -> None:
        self.level.place = place
        self.index += 1


_OPERATOR_WORDS = frozenset(
    {"and", "or", "not", "is", "in", "like", "ilike", "rlike", "between", "div", "null"}
)


def _is_alias(tokens: SqlTokens, index: int) -> bool:
    before = tokens[index - 1]
    ends_value = before.sign == ")" or before.kind in (NUMBER, STRING)
    return ends_value and tokens.word(index) not in _OPERATOR_WORDS


_Handler = Callable[[_Scan], None]
_SIGNS: Mapping[str, _Handler] = {
    "(": _Scan._open,
    ")": _Scan._close,
    ",": _Scan._comma,
    "/*+": _Scan._hint,
    "{": _Scan._frame,
    "|>": _Scan._pipe,
}
_KEYWORDS: Mapping[str, _Handler] = {
    "select": _Scan._select,
    "from": _Scan._from,
    "join": _Scan._join,
    "lateral": _Scan._lateral,
    "values": _Scan._values,
    "table": _Scan._table,
    "with": _Scan._with_word,
    "as": _Scan._as,
    **dict.fromkeys(
        ("where", "group", "having", "order", "sort", "cluster", "distribute", "limit", "offset", "qualify"),
        _Scan._clause,
    ),
    "window": _Scan._clause,
    **dict.fromkeys(("union", "except", "minus", "intersect", "setminus"), _Scan._set_operation),
}
