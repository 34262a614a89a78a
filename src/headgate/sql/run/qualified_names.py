"""How do expressions call the columns of the one table that they are about?

In ``UPDATE sales.orders AS o SET n = o.n + 1`` the expression says ``o.n``, and whoever computes it knows the
column as ``n``. What stands before the dot is taken away or changed, and all else of the text stays.
"""

from collections.abc import Mapping

from headgate.sql.parse.tokens import tokenize_statement

_DOT = "."


def without_qualifiers(text: str, *names: str | None) -> str:
    """The expression with ``n`` for ``name.n``, for each of these names."""
    return with_qualifiers(text, {name: "" for name in names if name})


def with_qualifiers(text: str, names: Mapping[str, str]) -> str:
    """The expression with another name before the dot; none at all if that is empty."""
    if _DOT not in text:
        return text
    wanted = {name.lower(): other for name, other in names.items()}
    tokens = tokenize_statement(text)
    pieces, position = [], 0
    for at, token in enumerate(tokens.tokens):
        if not token.is_name or tokens.sign(at + 1) != _DOT or tokens.sign(at - 1) == _DOT:
            continue
        other = wanted.get(token.name.lower())
        if other is not None:
            pieces += [text[position : token.start], other and f"{other}."]
            position = tokens.end_of(at + 1)
    return "".join([*pieces, text[position:]])
