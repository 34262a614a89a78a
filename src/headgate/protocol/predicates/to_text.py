"""A predicate as a person would write it, for messages."""

from headgate.protocol.predicates.tree import (
    Always,
    And,
    Compare,
    In,
    IsNull,
    Never,
    NotNull,
    NotStartsWith,
    Opaque,
    Or,
    Predicate,
    StartsWith,
    Value,
)

_SHOWN = 5


def render(predicate: Predicate) -> str:
    """The predicate in words close to SQL; long lists are cut."""
    match predicate:
        case Always():
            return "true"
        case Never():
            return "false"
        case Opaque(text):
            return text
        case And(parts):
            return " and ".join(_inner(part) for part in parts)
        case Or(parts):
            return " or ".join(_inner(part) for part in parts)
        case Compare(column, op, value):
            return f"{_name(column.path)} {op} {_literal(value)}"
        case In(column, values):
            shown = ", ".join(map(_literal, values[:_SHOWN])) + (", …" if len(values) > _SHOWN else "")
            return f"{_name(column.path)} in ({shown})"
        case StartsWith(column, prefix):
            return f"{_name(column.path)} starts with {prefix!r}"
        case NotStartsWith(column, prefix):
            return f"{_name(column.path)} does not start with {prefix!r}"
        case IsNull(column):
            return f"{_name(column.path)} is null"
        case NotNull(column):
            return f"{_name(column.path)} is not null"


def _inner(predicate: Predicate) -> str:
    return f"({render(predicate)})" if isinstance(predicate, (And, Or)) else render(predicate)


def _name(path: tuple[str, ...]) -> str:
    return ".".join(path)


def _literal(value: Value) -> str:
    return str(value) if isinstance(value, (int, float)) else f"'{value}'"
