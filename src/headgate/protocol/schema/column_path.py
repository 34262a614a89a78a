"""How does a user write the path of a column? ``a.b`` is b in the struct a, and `` `a.b` `` one name."""

import re

from headgate.errors import InvalidRequest

Path = tuple[str, ...]
_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")
_SEPARATING = frozenset(".,`")
_BARE_IN_SQL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse_path(text: str) -> Path:
    """``a.b`` as its parts; a name that has a dot in it is written in backticks."""
    parts, at = [], 0
    while at <= len(text):
        found = _PART.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] != "."):
            raise InvalidRequest(f"{text!r} is not a column: write it like a, a.b or `a.b`")
        quoted, plain = found.groups()
        parts.append(quoted.replace("``", "`") if quoted else plain)
        at = found.end() + 1
    return tuple(parts)


def format_path(path: Path) -> str:
    """A path as a user writes it: the opposite of ``parse_path``."""
    return ".".join(_quoted(part) if set(part) & _SEPARATING else part for part in path)


def sql_path(path: Path) -> str:
    """A path as Spark writes it in SQL: all but the plainest names are in backticks."""
    return ".".join(map(sql_name, path))


def sql_name(name: str) -> str:
    """One name as Spark writes it in SQL, ``größe`` as `` `größe` ``."""
    return name if _BARE_IN_SQL.fullmatch(name) else _quoted(name)


def _quoted(part: str) -> str:
    return "`" + part.replace("`", "``") + "`"
