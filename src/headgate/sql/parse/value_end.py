"""Where does a value end that no parenthesis closes: ``t TIMESTAMP AS OF now() - INTERVAL 1 DAY WHERE …``?

Operands and operators by turns: what stands behind an operand and is no operator does not belong to it.
AND, OR and NOT are no operators of values, as in Spark.
"""

from headgate.sql.parse.tokens import NUMBER, STRING, WORD, SqlTokens

_OPERATORS = frozenset(
    ("+", "-", "*", "/", "%", "||", "&", "|", "^", "<", ">", "<=", ">=", "=", "==", "!=", "<>", "<=>")
)
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
INTERVAL_UNITS = frozenset(name for unit in _UNITS for name in (unit, f"{unit}s"))


def skip_value(tokens: SqlTokens, index: int) -> int:
    """The token behind the value that begins at ``index``; ``index`` itself if none begins there."""
    end = _skip_operand(tokens, index)
    while end > index and (tokens.sign(end) in _OPERATORS or tokens.word(end) == "div"):
        following = end + 1
        while tokens.sign(following) in _OPERATORS:  # a sign, or the second character of <<
            following += 1
        after = _skip_operand(tokens, following)
        if after == following:
            break
        end = after
    return end


def _skip_operand(tokens: SqlTokens, index: int) -> int:
    begin = index
    while tokens.sign(index) in ("+", "-", "~"):
        index += 1
    end = _skip_primary(tokens, index)
    return begin if end == index else _skip_postfixes(tokens, end)


def _skip_primary(tokens: SqlTokens, index: int) -> int:
    token = tokens[index]
    if token.kind == NUMBER:
        return index + 1
    if token.kind == STRING:
        return _skip_strings(tokens, index)
    if token.sign == "(":
        return tokens.after_group(index)
    if token.sign == "?":
        return index + 1
    if token.sign == ":" and tokens.is_name(index + 1):
        return index + 2
    return _skip_named(tokens, index) if token.is_name else index


def _skip_named(tokens: SqlTokens, index: int) -> int:
    """Behind a column, a call, CASE … END, INTERVAL … or a literal with its type."""
    word = tokens.word(index)
    if word == "interval" and tokens.sign(index + 1) != ".":
        return max(_skip_interval(tokens, index + 1), index + 1)
    if word == "case":
        return _skip_case(tokens, index)
    if tokens[index].kind == WORD and tokens[index + 1].kind == STRING:
        return _skip_strings(tokens, index + 1)
    end = skip_name(tokens, index)
    return tokens.after_group(end) if tokens.sign(end) == "(" else end


def skip_name(tokens: SqlTokens, index: int) -> int:
    """Behind a name of several parts."""
    if not tokens.is_name(index):
        return index
    while tokens.sign(index + 1) == "." and tokens.is_name(index + 2):
        index += 2
    return index + 1


def _skip_strings(tokens: SqlTokens, index: int) -> int:
    while tokens[index].kind == STRING:
        index += 1
    return index


def _skip_case(tokens: SqlTokens, index: int) -> int:
    depth = 0
    for position in range(index, tokens.stop):
        if tokens.sign(position - 1) != ".":
            depth += (tokens.word(position) == "case") - (tokens.word(position) == "end")
        if depth == 0:
            return position + 1
    return tokens.stop


def _skip_interval(tokens: SqlTokens, index: int) -> int:
    """Behind ``1 DAY 2 HOURS``, ``'1' DAY``, ``'1 2' DAY TO HOUR``, ``'1 day'``."""
    end = index
    while True:
        value = end + 1 if tokens.sign(end) in ("+", "-") else end
        after = _skip_primary(tokens, value) if tokens.word(value) not in INTERVAL_UNITS else value
        if after == value:
            return end
        if tokens.word(after) not in INTERVAL_UNITS:
            return after if end == index and tokens[value].kind == STRING else end
        end = after + 1
        if tokens.word(end) == "to" and tokens.word(end + 1) in INTERVAL_UNITS:
            return end + 2


def _skip_postfixes(tokens: SqlTokens, index: int) -> int:
    while True:
        sign = tokens.sign(index)
        if sign == "[":
            index = tokens.after_group(index)
        elif sign in (".", ":") and tokens.is_name(index + 1):
            index += 2
        elif sign == "::" and tokens.is_name(index + 1):
            index = tokens.after_group(index + 2) if tokens.sign(index + 2) == "(" else index + 2
        elif tokens.word(index) == "collate" and tokens.is_name(index + 1):
            index = skip_name(tokens, index + 1)
        else:
            return index
