"""The bank as tables of a page: counts, differences, and what is Headgate's only."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.sql.bank import Statement, load_bank


def sql_bank() -> Iterator[str]:
    """How many statements the files have, and of whom."""
    yield "| file | groups | statements | of Delta too | of these differ | Headgate's only | errors |"
    yield "|---|---|---|---|---|---|---|"
    files: dict[str, list[tuple[str, Statement]]] = defaultdict(list)
    for group in load_bank():
        files[group.file] += [(group.name, statement) for statement in group.statements]
    for file, rows in files.items():
        yield _counts(f"`{file}`", rows)
    yield _counts("together", [row for rows in files.values() for row in rows])


def _counts(name: str, rows: list[tuple[str, Statement]]) -> str:
    statements = [statement for _, statement in rows]
    groups = len({(statement.file, group) for group, statement in rows})
    ours = sum(each.is_ours for each in statements)
    differ = sum("differs" in each.marks for each in statements)
    errors = sum(line.startswith("error") for each in statements for line in each.expected[:1])
    counts = (groups, len(statements), len(statements) - ours, differ, ours, errors)
    return f"| {name} | {' | '.join(map(str, counts))} |"


def sql_differences() -> Iterator[str]:
    """The statements that give something else on Delta Spark, and why."""
    yield "| statement | Headgate | Delta Spark | because |"
    yield "|---|---|---|---|"
    for statement in (each for group in load_bank() for each in group.statements):
        if "differs" in statement.marks:
            ours, theirs = (_cell(lines) for lines in (statement.expected, statement.theirs))
            text = " ".join(statement.text.split()).replace("|", "\\|")
            yield f"| `{text}` | {ours} | {theirs} | {statement.marks['differs']} |"


def _cell(lines: tuple[str, ...]) -> str:
    shown = [line.replace("|", "\\|") for line in lines if not line.startswith("ok")]
    return "<br>".join(f"`{line}`" for line in shown[:4]) + (" …" if len(shown) > 4 else "") or "done"


def sql_ours() -> Iterator[str]:
    """The statements that Delta Spark does not have, and why."""
    yield "| statements | how many | because |"
    yield "|---|---|---|"
    for group in load_bank():
        reasons = Counter(each.marks["ours"] for each in group.statements if each.is_ours)
        for reason, count in reasons.items():
            yield f"| {group.name} | {count} | {reason} |"
