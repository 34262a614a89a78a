"""Types of columns: their values as plain ones, by chance, and as SQL.

Plain values are those of ``tests.support.plain_rows``. Among them are those that are easily stored wrong:
what needs escapes in a path or in JSON, days before 1582, what is not a number. Hive's name of the folder for
null is not: as a partition's value it is a text to Headgate, and null to Delta.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

TEXTS = (
    "0", "1", "a b", "x/y%", "it's", '"q"', "50%25", "ü☃", "", " ", "a=b:c", "#?&+", "back\\slash", "{null}",
    "𝄞 clef", "tab\there", "2026-01-31",
)  # fmt: skip
_EPOCH = datetime(1970, 1, 1)
_WRITTEN_AS_THEY_ARE = ("STRING", "BINARY", "BOOLEAN")
"""Types of which every literal is."""


@dataclass(frozen=True)
class Kind:
    """A type: its name in SQL, a value by chance that is not null, and how SQL writes a value."""

    sql: str
    draw: Callable[[Random], Any]
    write: Callable[[Any], str]
    ordered: bool = True

    def literal(self, value: Any) -> str:
        """The value in SQL, of exactly this type."""
        if value is not None and self.sql in _WRITTEN_AS_THEY_ARE:
            return self.write(value)
        return f"CAST({'NULL' if value is None else self.write(value)} AS {self.sql})"


def quoted(text: str) -> str:
    """A string literal of SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def name(column: str) -> str:
    """A column's name in SQL, whatever characters it has."""
    escaped = column.replace("`", "``")
    return f"`{escaped}`"


def order(value: Any) -> Any:
    """By what values of one type are compared; Spark has NaN above all numbers."""
    if value == "NaN":
        return (1, 0)
    return (0, value) if isinstance(value, float) else value


def _moment(random: Random) -> datetime:
    if random.random() < 0.2:
        return random.choice(
            [datetime(1500, 2, 28, 23, 59, 59, 999999), datetime(1969, 12, 31, 23, 59, 59, 1), _EPOCH]
        )
    return datetime(2026, 1, random.randint(1, 3)) + timedelta(
        microseconds=random.choice([0, 1, 1_500_000, 86_399_999_999])
    )


def _day(random: Random) -> date:
    return random.choice(
        [date(1, 1, 1), date(1582, 10, 4), date(1969, 12, 31), *_DAYS, *_DAYS, date(9999, 12, 31)]
    )


_DAYS = (date(2026, 1, 1), date(2026, 1, 31))


def _integer(low: int, high: int) -> Callable[[Random], int]:
    return lambda random: random.choice([low, high, *range(-2, 8), *range(-2, 8)])


def _decimal(scale: int, most: str) -> Callable[[Random], Decimal]:
    unit = Decimal(1).scaleb(-scale)
    least = Decimal(f"-{most}")  # a minus sign before a number would round it
    return lambda random: random.choice([Decimal(most), least, Decimal(0), random.randint(-500, 500) * unit])


def _float(random: Random) -> Any:
    return random.choice(["NaN", float("inf"), -0.5, 0.0, 1.5, 2.0, 1e10, -3.25])


def _write_float(value: Any) -> str:
    return quoted({"inf": "Infinity"}.get(str(value), str(value)))


def _plain(sql: str, draw: Callable[[Random], Any]) -> Kind:
    return Kind(sql, draw, lambda value: quoted(str(value)))


def _number(sql: str, draw: Callable[[Random], Any]) -> Kind:
    return Kind(sql, draw, lambda value: quoted(f"{value:f}"))


def array(element: Kind) -> Kind:
    """An array of it."""
    return Kind(
        f"ARRAY<{element.sql}>",
        lambda random: tuple(_or_null(random, element) for _ in range(random.randint(0, 3))),
        lambda value: f"array({', '.join(map(element.literal, value))})",
        ordered=False,
    )


def mapping(value: Kind) -> Kind:
    """A map from texts to it."""
    text = KINDS["STRING"]
    return Kind(
        f"MAP<STRING, {value.sql}>",
        lambda random: frozenset(
            (key, _or_null(random, value)) for key in random.sample(TEXTS, random.randint(0, 2))
        ),
        lambda pairs: "map({})".format(
            ", ".join(
                f"{text.literal(key)}, {value.literal(part)}"
                for key, part in sorted(pairs, key=lambda p: p[0])
            )
        ),
        ordered=False,
    )


def struct(fields: Mapping[str, Kind]) -> Kind:
    """A struct of these."""
    kinds: Sequence[Kind] = list(fields.values())

    def write(value: tuple[Any, ...]) -> str:
        parts = zip(fields, kinds, value, strict=True)
        return "named_struct({})".format(
            ", ".join(f"'{field}', {kind.literal(part)}" for field, kind, part in parts)
        )

    return Kind(
        "STRUCT<{}>".format(", ".join(f"{field}: {kind.sql}" for field, kind in fields.items())),
        lambda random: tuple(_or_null(random, kind) for kind in kinds),
        write,
        ordered=False,
    )


def _or_null(random: Random, kind: Kind) -> Any:
    return None if random.random() < 0.15 else kind.draw(random)


KINDS: dict[str, Kind] = {
    kind.sql: kind
    for kind in (
        _plain("TINYINT", _integer(-128, 127)),
        _plain("SMALLINT", _integer(-32768, 32767)),
        _plain("INT", _integer(-(2**31), 2**31 - 1)),
        _plain("BIGINT", _integer(-(2**63), 2**63 - 1)),
        Kind("FLOAT", _float, _write_float),
        Kind("DOUBLE", _float, _write_float),
        _number("DECIMAL(10,2)", _decimal(2, "99999999.99")),
        _number("DECIMAL(14,4)", _decimal(4, "9999999999.9999")),
        _number("DECIMAL(38,10)", _decimal(10, "9999999999999999999999999999.9999999999")),
        Kind("STRING", lambda random: random.choice(TEXTS), quoted),
        _plain("DATE", _day),
        Kind(
            "TIMESTAMP",
            lambda random: _moment(random).replace(tzinfo=UTC),
            lambda value: quoted(value.isoformat()),
        ),
        Kind("TIMESTAMP_NTZ", _moment, lambda value: quoted(value.isoformat())),
        Kind(
            "BINARY",
            lambda random: random.choice([b"", b"\x00", b"\xff\xfe", b"abc"]),
            lambda v: f"X'{v.hex()}'",
        ),
        Kind(
            "BOOLEAN", lambda random: random.random() < 0.5, lambda value: str(value).lower(), ordered=False
        ),
    )
}
NESTED: tuple[Kind, ...] = (
    struct({"x": KINDS["INT"], "y": KINDS["STRING"]}),
    array(KINDS["SMALLINT"]),
    mapping(KINDS["DECIMAL(10,2)"]),
    array(struct({"q": KINDS["DATE"], "r": KINDS["TIMESTAMP"]})),
    struct({"a": struct({"b": KINDS["TIMESTAMP_NTZ"]}), "c": array(KINDS["BINARY"])}),
)


def addable(features: frozenset[str]) -> list[Kind]:
    """The types of columns that a table can be given: neither engine adds ``timestampNtz`` by itself."""
    kinds = (*KINDS.values(), *NESTED)
    return [kind for kind in kinds if "timestampNtz" in features or "TIMESTAMP_NTZ" not in kind.sql]


_SAME: Callable[[Any], Any] = lambda value: value  # noqa: E731
WIDER: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "TINYINT": {"SMALLINT": _SAME, "INT": _SAME, "DOUBLE": float, "DECIMAL(14,4)": Decimal},
    "SMALLINT": {"INT": _SAME, "BIGINT": _SAME},
    "INT": {"BIGINT": _SAME, "DOUBLE": float, "DECIMAL(14,4)": Decimal},
    "FLOAT": {"DOUBLE": _SAME},
    "DECIMAL(10,2)": {"DECIMAL(14,4)": _SAME, "DECIMAL(38,10)": _SAME},
    "DATE": {"TIMESTAMP_NTZ": lambda day: datetime(day.year, day.month, day.day)},
}
"""To which types one can be widened, and what becomes of its values."""


def or_null(random: Random, kind: Kind, chance: float = 0.15) -> Any:
    """A value, or null."""
    return None if random.random() < chance else kind.draw(random)
