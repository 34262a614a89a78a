"""What belongs to a name behind it: ``@v3``, VERSION AS OF 3, CHANGES FROM VERSION 1, WITH (options)?"""

import re
from dataclasses import dataclass

from headgate.sql.parse.literals import joined_strings, parameter_there, string_value
from headgate.sql.parse.tokens import NUMBER, STRING, SqlTokens
from headgate.sql.parse.value_end import skip_name, skip_value
from headgate.sql.statements.sql_text import (
    AsOf,
    ChangesRange,
    ParameterMention,
    Properties,
    SqlParameter,
    SqlText,
)

_VERSIONS, _TIMESTAMPS = ("version", "system_version"), ("timestamp", "system_time")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})")


@dataclass(frozen=True, slots=True)
class TableSuffix:
    """What stands behind a name, and the first token that does not belong to it."""

    stop: int
    as_of: AsOf | None = None
    changes: ChangesRange | None = None
    options: Properties = ()


def read_suffix(tokens: SqlTokens, index: int) -> TableSuffix:
    """All that belongs to the name that ends before ``index``."""
    as_of, stop = read_as_of(tokens, index)
    changes = None
    if as_of is None and tokens.has_words(index, "changes", "from"):
        changes, stop = _read_changes(tokens, index)
    options: Properties = ()
    if tokens.word(stop) == "with" and tokens.sign(stop + 1) == "(":
        options, stop = _read_options(tokens, stop)
    return TableSuffix(stop, as_of, changes, options)


def read_as_of(tokens: SqlTokens, index: int) -> tuple[AsOf | None, int]:
    """The version or the moment that is said there, and the token behind it."""
    sign = tokens.sign(index)
    if sign == "@v":
        return _read_version(tokens, index + 1, index)
    if sign == "@":
        return _read_moment(tokens, index)
    begin = index + 1 if tokens.word(index) == "for" else index
    if not tokens.has_words(begin + 1, "as", "of"):
        return None, index
    if tokens.word(begin) in _VERSIONS:
        return _read_version(tokens, begin + 3, index)
    if tokens.word(begin) in _TIMESTAMPS:
        stop = skip_value(tokens, begin + 3)
        if stop > begin + 3:
            return AsOf(timestamp=plain_text(tokens, begin + 3, stop)), stop
    return None, index


def _read_version(tokens: SqlTokens, index: int, before: int) -> tuple[AsOf | None, int]:
    version, stop = version_there(tokens, index)
    return (AsOf(version=version), stop) if version is not None else (None, before)


def version_there(tokens: SqlTokens, index: int) -> tuple[str | SqlParameter | None, int]:
    """The number, literal or parameter of a version, and the token behind it."""
    if tokens[index].kind == NUMBER:
        return tokens[index].text, index + 1
    if tokens[index].kind == STRING:
        return joined_strings(tokens, index)
    return parameter_there(tokens, index)


def _read_moment(tokens: SqlTokens, index: int) -> tuple[AsOf | None, int]:
    """``@yyyyMMddHHmmssSSS``, as the literal that says the same."""
    found = _MOMENT.fullmatch(tokens[index + 1].text)
    if found is None:
        return None, index
    year, month, day, hour, minute, second, millis = found.groups()
    literal = f"'{year}-{month}-{day} {hour}:{minute}:{second}.{millis}'"
    return AsOf(timestamp=SqlText(literal, offset=tokens[index + 1].start)), index + 2


def _read_changes(tokens: SqlTokens, index: int) -> tuple[ChangesRange | None, int]:
    start = _changes_end(tokens, index + 2)
    if start is None:
        return None, index
    end = _changes_end(tokens, start.stop + 1) if tokens.word(start.stop) == "to" else None
    return (
        ChangesRange(
            start.text,
            end.text if end else None,
            start.is_timestamp,
            start.is_excluded,
            end is not None and end.is_excluded,
        ),
        end.stop if end else start.stop,
    )


@dataclass(frozen=True, slots=True)
class _ChangesEnd:
    text: SqlText
    is_timestamp: bool
    is_excluded: bool
    stop: int


def _changes_end(tokens: SqlTokens, index: int) -> _ChangesEnd | None:
    if tokens.word(index) not in (*_VERSIONS, *_TIMESTAMPS):
        return None
    stop = skip_value(tokens, index + 1)
    said = tokens.word(stop)
    text = plain_text(tokens, index + 1, stop)
    is_said = said in ("inclusive", "exclusive")
    return _ChangesEnd(text, tokens.word(index) in _TIMESTAMPS, said == "exclusive", stop + is_said)


def _read_options(tokens: SqlTokens, index: int) -> tuple[Properties, int]:
    """WITH ('key' = 'value'); nothing is taken if it is something else."""
    group = index + 1
    stop = tokens.closes.get(group)
    pairs: list[tuple[str, str]] = []
    position = group + 1
    while stop is not None and position < stop:
        key, position = property_key(tokens, position)
        position += tokens.sign(position) in ("=", "==")
        value, position = property_value(tokens, position)
        if key is None or value is None or tokens.sign(position) not in (",", ")"):
            return (), index
        pairs.append((key, value))
        position += 1
    return (tuple(pairs), stop + 1) if stop is not None and pairs else ((), index)


def property_key(tokens: SqlTokens, index: int) -> tuple[str | None, int]:
    """A key in quotes, or a name with its dots."""
    if tokens[index].kind == STRING:
        key, after = joined_strings(tokens, index)
        has_sign = tokens.sign(after) in ("=", "==")
        return (key, after) if has_sign else (string_value(tokens[index].text), index + 1)
    stop = skip_name(tokens, index)
    if stop == index:
        return None, index
    return ".".join(tokens[at].name for at in range(index, stop, 2)), stop


def property_value(tokens: SqlTokens, index: int) -> tuple[str | None, int]:
    """A value in quotes, a number, or true or false."""
    if tokens[index].kind == STRING:
        return joined_strings(tokens, index)
    sign = tokens.sign(index) == "-"
    if tokens[index + sign].kind == NUMBER:
        return tokens.slice(index, index + sign + 1), index + sign + 1
    if tokens.word(index) in ("true", "false"):
        return tokens.word(index), index + 1
    return None, index


def plain_text(tokens: SqlTokens, begin: int, stop: int) -> SqlText:
    """The text between two tokens with its parameters; no table is looked for in it."""
    offset = tokens[begin].start
    found: list[ParameterMention] = []
    for index in range(begin, stop):
        parameter, after = parameter_there(tokens, index)
        if parameter is not None:
            start = tokens[index].start - offset
            found.append(ParameterMention(start, tokens.end_of(after - 1) - offset, parameter))
    return SqlText(tokens.slice(begin, stop), (), tuple(found), offset=offset)
