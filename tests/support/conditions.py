"""Random conditions of SQL with what Spark says of them for a row, worked out in plain Python."""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from headgate.protocol.schema.types import Field, Primitive, Struct

Row = dict[str, Any]
Truth = bool | None

SCHEMA = Struct(
    (
        Field("i", Primitive("long")),
        Field("s", Primitive("string")),
        Field("d", Primitive("double")),
        Field("f", Primitive("float")),
        Field("n", Primitive("decimal(20,3)")),
        Field("day", Primitive("date")),
        Field("ts", Primitive("timestamp")),
        Field("wall", Primitive("timestamp_ntz")),
        Field("b", Primitive("boolean")),
        Field("st", Struct((Field("X.y", Primitive("integer")),))),
    )
)
PATHS = {"st": ("st", "X.y")}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, its text and its truth for a row."""

    sql: str
    truth: Callable[[Row], Truth]


def single(value: float) -> float:
    found: float = struct.unpack("f", struct.pack("f", value))[0]
    return found


LONG = "x" * 31
VALUES: dict[str, list[Any]] = {
    "i": [-(2**63), -7, -1, 0, 1, 2, 3, 10, 2**53 + 1, 2**63 - 1],
    "s": ["", "a", "ab", "b", "é", "z%", "it's", "a\\b", "\uffff", "😀", LONG, LONG + "a", LONG + "😀b",
          LONG + "\ufffdq", "😀" * 20, "x" * 32 + "\U0010ffff", "x" * 40, "é" * 33],
    "d": [-math.inf, -1.5, -0.0, 0.0, 0.1, 1.5, 2.0, 1e300, math.inf, math.nan],
    "f": [single(value) for value in (-1.5, -0.0, 0.1, 1.5, 2.0, 3e38)] + [math.nan],
    "n": [Decimal(text) for text in (
        "-1.500", "0.000", "0.001", "1.500", "2.000", "12345678901234567.891", "12345678901234567.892",
        "12345678901234568.000", "12345678901234568.500", "99999999999999999.999", "-99999999999999999.998")],
    "day": [date(1601, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(2024, 3, 1), date(9999, 12, 31)],
    "ts": [datetime(*parts, tzinfo=UTC) for parts in (
        (1650, 1, 1), (1969, 12, 31, 23, 59, 59, 999999), (1970, 1, 1), (2024, 2, 29, 12, 0, 0, 1999),
        (2024, 2, 29, 12, 0, 0, 1000), (2024, 3, 1), (9999, 1, 1, 0, 0, 0, 1))],
    "b": [True, False],
    "st": [-1, 0, 1, 2, 5],
}  # fmt: skip
VALUES["wall"] = [moment.replace(tzinfo=None) for moment in VALUES["ts"]]


def value(random: Random, column: str) -> Any:
    return None if random.random() < 0.15 else random.choice(VALUES[column])


def order(left: Any, right: Any) -> int:
    """Spark's order: NaN above all and equal to itself, strings by their UTF-8 bytes."""
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    if isinstance(left, float) and isinstance(right, float) and (math.isnan(left) or math.isnan(right)):
        return math.isnan(left) - math.isnan(right)
    return int(left > right) - int(left < right)


OPS: dict[str, Callable[[int], bool]] = {
    "=": lambda found: found == 0,
    "==": lambda found: found == 0,
    "<>": lambda found: found != 0,
    "!=": lambda found: found != 0,
    "<": lambda found: found < 0,
    "<=": lambda found: found <= 0,
    ">": lambda found: found > 0,
    ">=": lambda found: found >= 0,
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def reference(column: str) -> str:
    return "`st`.`x.Y`" if column == "st" else column


def literal(random: Random, column: str) -> tuple[str, Callable[[Any], int]]:
    """A literal beside the column: its text, and how a value of the column compares with it."""
    chosen = random.choice(VALUES[column])
    match column:
        case "i" | "st":
            return _number(random, chosen)
        case "n":
            return random.choice(
                [_exact(chosen), _double(float(chosen)), _exact(Decimal(random.randint(-3, 3)))]
            )
        case "d" | "f" if not math.isfinite(chosen):
            name = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(chosen, "NaN")
            return f"CAST('{name}' AS DOUBLE)", lambda found: order(float(found), chosen)
        case "d" | "f":
            return random.choice([_double(chosen), _in_double("0.1"), _in_double("1.5"), _in_double("2")])
        case "s":
            return quoted(chosen), lambda found: order(found, chosen)
        case "b":
            return str(chosen), lambda found: order(found, chosen)
        case "day":
            text = random.choice(["DATE'{}'", "'{}'", "CAST('{}' AS DATE)", "TIMESTAMP'{} 12:00:00'"])
            if text.startswith("TIMESTAMP"):
                noon = datetime.combine(chosen, datetime.min.time()) + timedelta(hours=12)
                return text.format(chosen), lambda found: order(
                    datetime.combine(found, datetime.min.time()), noon
                )
            return text.format(chosen), lambda found: order(found, chosen)
        case _:
            return _moment(random, column, chosen)


def _number(random: Random, chosen: int) -> tuple[str, Callable[[Any], int]]:
    small = chosen % 10
    return random.choice(
        [
            (str(chosen), lambda found: order(found, chosen)),
            (f"'{small}'", lambda found: order(found, small)),
            (f"{small}L", lambda found: order(found, small)),
            (f"{small}.50", lambda found: order(Decimal(found), Decimal(f"{small}.50"))),
            (f"-{small}.5", lambda found: order(Decimal(found), Decimal(f"-{small}.5"))),
            (f"{small}.5D", lambda found: order(float(found), small + 0.5)),
            (f"{small}e0", lambda found: order(float(found), float(small))),
        ]
    )


def _exact(number: Decimal) -> tuple[str, Callable[[Any], int]]:
    return f"{number:f}", lambda found: order(found, number)


def _double(number: float) -> tuple[str, Callable[[Any], int]]:
    text = f"{number!r}D" if "e" not in repr(number) else repr(number)
    return text, lambda found: order(float(found), number)


def _in_double(text: str) -> tuple[str, Callable[[Any], int]]:
    return text, lambda found: order(found, float(text))


def _moment(random: Random, column: str, chosen: datetime) -> tuple[str, Callable[[Any], int]]:
    shown = chosen.replace(tzinfo=None)
    kind = random.choice(["TIMESTAMP'{}'", "'{}'", "TIMESTAMP_NTZ'{}'", "DATE", "offset"])
    if kind == "DATE":
        shown = datetime.combine(shown.date(), datetime.min.time())
        text = f"DATE'{shown.date()}'"
    elif kind == "offset" and column == "ts" and shown.year < 9999:
        text = f"TIMESTAMP'{(shown + timedelta(hours=2)).isoformat(sep=' ')}+02:00'"
    else:
        text = kind.replace("offset", "'{}'").format(shown.isoformat(sep=" "))
    return text, lambda found: order(found.replace(tzinfo=None), shown)


def simple(random: Random) -> Condition:
    """One comparison or test of one column."""
    column = random.choice([field.name for field in SCHEMA.fields])
    name = reference(column)
    match random.choice(["compare", "compare", "compare", "in", "between", "null", "safe", "text", "day"]):
        case "in":
            return _in(random, column)
        case "between":
            (low, below), (high, above) = literal(random, column), literal(random, column)
            negated = random.random() < 0.3
            return Condition(
                f"{name} {'NOT ' * negated}BETWEEN {low} AND {high}",
                _strict(column, lambda found: (below(found) >= 0 and above(found) <= 0) is not negated),
            )
        case "null":
            wanted = random.random() < 0.5
            return Condition(
                f"{name} IS {'' if wanted else 'NOT '}NULL", lambda row: (row[column] is None) is wanted
            )
        case "safe":
            text, compared = literal(random, column)
            return Condition(
                f"{name} <=> {text}", lambda row: row[column] is not None and compared(row[column]) == 0
            )
        case "text":
            return _text(random)
        case "day":
            chosen, op = random.choice(VALUES["day"]), random.choice(list(OPS))
            moment = random.choice(["ts", "wall"])
            return Condition(
                f"CAST({moment} AS DATE) {op} DATE'{chosen}'",
                _strict(moment, lambda found: OPS[op](order(found.date(), chosen))),
            )
        case _:
            return compare(random, column, random.choice(list(OPS)))


def compare(random: Random, column: str, op: str) -> Condition:
    text, compared = literal(random, column)
    truth = _strict(column, lambda found: OPS[op](compared(found)))
    if random.random() < 0.3:
        return Condition(f"{text} {MIRRORED.get(op, op)} {reference(column)}", truth)
    return Condition(f"{reference(column)} {op} {text}", truth)


def _in(random: Random, column: str) -> Condition:
    many = random.choice([1, 2, 30])
    if column in ("i", "st"):
        values = [random.choice([*VALUES[column], random.randint(-50, 50)]) for _ in range(many)]
        texts = [str(item) for item in values]
    elif column == "s":
        values = [random.choice(VALUES["s"]) for _ in range(many)]
        texts = [quoted(item) for item in values]
    else:
        column = "day"
        values = [random.choice(VALUES["day"]) for _ in range(many)]
        texts = [f"DATE'{item}'" for item in values]
    negated, with_null = random.random() < 0.4, random.random() < 0.2

    def truth(row: Row) -> Truth:
        if row[column] is None:
            return None
        if row[column] in values:
            return not negated
        return None if with_null else negated

    listed = ", ".join(texts + ["NULL"] * with_null)
    return Condition(f"{reference(column)} {'NOT ' * negated}IN ({listed})", truth)


def _text(random: Random) -> Condition:
    prefix = random.choice(["", "a", "é", "z", "x" * 10, "x" * 32, LONG, "😀", "it's"])
    kind = random.choice(["startswith(s, {})", "s LIKE {}", "s NOT LIKE {}", "s LIKE {} ESCAPE '!'"])
    negated = "NOT" in kind
    pattern = quoted(prefix if kind.startswith("starts") else prefix + "%")
    return Condition(
        kind.format(pattern), _strict("s", lambda found: found.startswith(prefix) is not negated)
    )


def _strict(column: str, truth: Callable[[Any], bool]) -> Callable[[Row], Truth]:
    return lambda row: None if row[column] is None else truth(row[column])


def condition(random: Random, depth: int = 2) -> Condition:
    """Conditions of the whole grammar, nested."""
    if depth == 0 or random.random() < 0.3:
        return _opaque() if random.random() < 0.05 else simple(random)
    if random.random() < 0.3:
        inner = condition(random, depth - 1)
        return Condition(f"NOT ({inner.sql})", lambda row: _not(inner.truth(row)))
    left, right = condition(random, depth - 1), condition(random, depth - 1)
    if random.random() < 0.5:
        return Condition(
            f"({left.sql}) AND ({right.sql})", lambda row: _and(left.truth(row), right.truth(row))
        )
    return Condition(
        f"({left.sql}) OR ({right.sql})",
        lambda row: _not(_and(_not(left.truth(row)), _not(right.truth(row)))),
    )


def _opaque() -> Condition:
    """One that is not understood, and false."""
    return Condition("length(s) < 0", _strict("s", lambda _: False))


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _and(left: Truth, right: Truth) -> Truth:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True
