"""Which relation does a name behind FROM mean, with all that belongs to it, and where does an alias go?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from headgate.sql.parse.literals import (
    joined_strings,
    name_parts,
    named_table,
    parameter_there,
    parse_table_name,
)
from headgate.sql.parse.table_suffix import plain_text, read_suffix
from headgate.sql.parse.tokens import STRING, SqlTokens
from headgate.sql.parse.value_end import skip_name
from headgate.sql.statements.sql_text import (
    ChangesRange,
    ParameterMention,
    QualifierMention,
    TableMention,
    TableRef,
)

CHANGES_FUNCTIONS = ("table_changes", "table_changes_by_path")
_MOST_PARTS = 8
# fmt: off
_AFTER_TABLE = frozenset((
    "on", "using", "join", "inner", "left", "right", "full", "cross", "natural", "semi", "anti",
    "where", "group", "having", "order", "sort", "cluster", "distribute", "limit", "offset",
    "window", "qualify", "union", "except", "minus", "intersect", "setminus", "lateral", "pivot",
    "unpivot", "select", "insert", "set", "when", "then", "do", "tablesample", "watermark", "with",
    "for", "match_condition",
))
# fmt: on
_AFTER_TABLE_PAIRS = frozenset(
    {("asof", "join"), ("bin", "by"), ("approx", "nearest"), ("exact", "nearest"), ("partition", "by")}
)


@dataclass(frozen=True, slots=True)
class NamedRelation:
    """A name among relations: the mention that it is, or the function that it calls."""

    stop: int
    """The token behind it and its alias; of a function its opening parenthesis."""
    mention: TableMention | None = None
    is_function: bool = False
    parameters: Sequence[ParameterMention] = ()
    """Those within the mention."""


@dataclass(frozen=True, slots=True)
class NameChain:
    """A name of several parts among expressions, which may be a column behind the name of its table."""

    parts: tuple[str, ...]
    start: int
    ends: tuple[int, ...]
    is_call: bool

    @classmethod
    def between(cls, tokens: SqlTokens, begin: int, stop: int) -> "NameChain":
        indexes = range(begin, min(stop, begin + 2 * _MOST_PARTS), 2)
        parts = tuple(tokens[index].name.lower() for index in indexes)
        if tokens.sign(stop) == "." and tokens.sign(stop + 1) == "*":
            parts = (*parts, "*")
        ends = tuple(tokens[index].end for index in indexes)
        return cls(parts, tokens[begin].start, ends, tokens.sign(stop) == "(")


def qualifier_mentions(
    mentions: Iterable[TableMention], chains: Iterable[NameChain]
) -> tuple[QualifierMention, ...]:
    """Where columns are qualified with the whole name of a table that is mentioned without an alias."""
    names: dict[tuple[str, ...], TableRef] = {}
    for mention in mentions:
        parts = tuple(part.lower() for part in mention.ref.parts)
        if mention.alias_at is not None:
            names |= {parts[begin:]: mention.ref for begin in range(len(parts) - 1)}
    found: list[QualifierMention] = []
    for chain in chains if names else ():
        for count in range(len(chain.parts) - 1, 1, -1):
            ref = names.get(chain.parts[:count])
            if ref is not None and not chain.is_call:
                found.append(QualifierMention(chain.start, chain.ends[count - 1], ref))
                break
    return tuple(found)


def read_relation(tokens: SqlTokens, index: int, *, takes_alias: bool) -> NamedRelation:
    """The relation whose name begins at ``index``."""
    word = tokens.word(index)
    if word == "stream" and (tokens.is_name(index + 1) or tokens.sign(index + 1) == "("):
        return _read_stream(tokens, index)
    if word == "identifier" and tokens.sign(index + 1) == "(":
        return _read_identifier(tokens, index, takes_alias=takes_alias)
    stop = skip_name(tokens, index)
    if tokens.sign(stop) == "(":
        if word in CHANGES_FUNCTIONS and stop == index + 1:
            return _read_changes_call(tokens, index)
        return NamedRelation(stop, is_function=True)
    ref = named_table(name_parts(tokens, index, stop))
    return _with_suffix(tokens, _Named(index, stop, ref), takes_alias=takes_alias)


@dataclass(frozen=True, slots=True)
class _Named:
    begin: int
    stop: int
    ref: TableRef
    is_stream: bool = field(default=False)


def _with_suffix(tokens: SqlTokens, named: _Named, *, takes_alias: bool) -> NamedRelation:
    suffix = read_suffix(tokens, named.stop)
    after, alias_at = skip_alias(tokens, suffix.stop) if takes_alias else (suffix.stop, None)
    mention = TableMention(
        tokens[named.begin].start,
        tokens.end_of(suffix.stop - 1),
        named.ref,
        suffix.as_of,
        suffix.changes,
        suffix.options,
        alias_at if named.ref.parts else None,
        named.is_stream,
        tokens.end_of(named.stop - 1),
    )
    has_more = suffix.stop > named.stop or named.ref.parameter is not None
    inside = _parameters(tokens, named.begin, suffix.stop) if has_more else ()
    return NamedRelation(after, mention, parameters=inside)


def _parameters(tokens: SqlTokens, begin: int, stop: int) -> tuple[ParameterMention, ...]:
    text = plain_text(tokens, begin, stop)
    return tuple(
        ParameterMention(each.start + text.offset, each.end + text.offset, each.parameter)
        for each in text.parameters
    )


def _read_stream(tokens: SqlTokens, index: int) -> NamedRelation:
    """STREAM t and STREAM(t); a function behind it is left alone."""
    in_group = tokens.sign(index + 1) == "("
    begin = index + 1 + in_group
    stop = skip_name(tokens, begin)
    if tokens.sign(stop) == "(" or stop == begin:
        return NamedRelation(stop, is_function=True) if stop > begin else NamedRelation(index + 1)
    ref = named_table(name_parts(tokens, begin, stop))
    return _with_suffix(tokens, _Named(index, stop + in_group, ref, is_stream=True), takes_alias=True)


def _read_identifier(tokens: SqlTokens, index: int, *, takes_alias: bool) -> NamedRelation:
    """IDENTIFIER('a.b') and IDENTIFIER(:name); what must be computed first is left to Spark."""
    stop = tokens.after_group(index + 1)
    ref = identifier_ref(tokens, index)
    if ref is None:
        return NamedRelation(stop)
    return _with_suffix(tokens, _Named(index, stop, ref), takes_alias=takes_alias)


def identifier_ref(tokens: SqlTokens, index: int) -> TableRef | None:
    """The table of IDENTIFIER(…) at ``index``; None if its name must be computed."""
    stop = tokens.after_group(index + 1)
    if tokens[index + 2].kind == STRING:
        name, after = joined_strings(tokens, index + 2)
        return parse_table_name(name) if name is not None and after == stop - 1 else None
    parameter, after = parameter_there(tokens, index + 2)
    return TableRef(parameter=parameter) if parameter is not None and after == stop - 1 else None


def _read_changes_call(tokens: SqlTokens, index: int) -> NamedRelation:
    """table_changes('t', start [, end])."""
    close = tokens.closes.get(index + 1)
    arguments = split_arguments(tokens, index + 2, close) if close is not None else []
    ref = None if close is None or len(arguments) not in (2, 3) else _changed_table(tokens, index)
    if close is None or ref is None:
        return NamedRelation(index + 1, is_function=True)
    start, *rest = (plain_text(tokens, begin, stop) for begin, stop in arguments[1:])
    after, _ = skip_alias(tokens, close + 1)
    mention = TableMention(
        tokens[index].start,
        tokens[close].end,
        ref,
        changes=ChangesRange(start, rest[0] if rest else None),
        name_end=tokens[index].end,
    )
    return NamedRelation(after, mention, parameters=_parameters(tokens, index, close))


def _changed_table(tokens: SqlTokens, index: int) -> TableRef | None:
    if tokens[index + 2].kind == STRING:
        said, after = joined_strings(tokens, index + 2)
        if said is None or tokens.sign(after) != ",":
            return None
        return parse_table_name(said) if tokens.word(index) == CHANGES_FUNCTIONS[0] else TableRef(path=said)
    parameter, _ = parameter_there(tokens, index + 2)
    return TableRef(parameter=parameter) if parameter is not None else None


def split_arguments(tokens: SqlTokens, begin: int, stop: int) -> list[tuple[int, int]]:
    """The pieces between the commas from one token to another; commas in parentheses divide nothing."""
    pieces: list[tuple[int, int]] = []
    index = start = begin
    while index < stop:
        if tokens.sign(index) == ",":
            pieces.append((start, index))
            start = index + 1
        index = tokens.after_group(index) if tokens.sign(index) in ("(", "[") else index + 1
    return [*pieces, (start, stop)] if begin < stop else pieces


def skip_alias(tokens: SqlTokens, index: int) -> tuple[int, int | None]:
    """The token behind the alias that stands there, and where one may be put if there is none."""
    index = _skip_sample(tokens, index)
    word = tokens.word(index)
    if word == "as" and tokens.is_name(index + 1):
        return index + 2, None
    follows = word in _AFTER_TABLE or (word, tokens.word(index + 1)) in _AFTER_TABLE_PAIRS
    if tokens.is_name(index) and not follows:
        return index + 1, None
    return index, None if word == "watermark" else tokens.end_of(index - 1)


def _skip_sample(tokens: SqlTokens, index: int) -> int:
    if tokens.word(index) != "tablesample":
        return index
    index += 2 if tokens.word(index + 1) in ("system", "bernoulli") else 1
    if tokens.sign(index) == "(":
        index = tokens.after_group(index)
    if tokens.word(index) == "repeatable" and tokens.sign(index + 1) == "(":
        index = tokens.after_group(index + 1)
    return index
