"""Which names does a WITH clause make, and where does it end?"""

from headgate.sql.parse.tokens import SqlTokens


def skip_ctes(tokens: SqlTokens, index: int) -> tuple[tuple[str, ...], int]:
    """The names that the WITH clause there makes, and the token behind it."""
    names: list[str] = []
    index += 2 if tokens.word(index + 1) == "recursive" and tokens.is_name(index + 2) else 1
    while (body := cte_body(tokens, index)) is not None:
        names.append(tokens[index].name)
        index = tokens.after_group(body)
        if tokens.sign(index) != ",":
            break
        index += 1
    return tuple(names), index


def cte_body(tokens: SqlTokens, index: int) -> int | None:
    """Where the parenthesis of a CTE opens whose name stands at ``index``."""
    if not tokens.is_name(index):
        return None
    body = tokens.after_group(index + 1) if tokens.sign(index + 1) == "(" else index + 1
    if (
        body > index + 1
        and tokens.word(body) != "as"
        and tokens.sign(body) != "("
        and tokens.word(body) != "max"
    ):
        body = index + 1  # no list of columns, but the query itself
    if tokens.has_words(body, "max", "recursion", "level"):
        body += 4
    body += tokens.word(body) == "as"
    return body if tokens.sign(body) == "(" else None
