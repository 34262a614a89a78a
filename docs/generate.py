"""Writes the tables of the reference pages from the code's own rows; ``--check`` only compares.

A table stands between ``<!-- generated: name -->`` and ``<!-- end -->``.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from headgate import errors
from headgate.protocol.conflicts import RULES
from headgate.protocol.features import FEATURES
from headgate.settings import Settings

PAGES = Path(__file__).parent / "reference"
_MARKED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _conflicts() -> Iterator[str]:
    yield "| rule | objection | error |"
    yield "|---|---|---|"
    for rule in RULES:
        objection = rule.objection.__name__.strip("_").replace("_", " ")
        yield f"| `{rule.name}` | {objection} | `{rule.error.__name__}` · `{rule.error.code}` |"


def _features() -> Iterator[str]:
    yield "| feature | concerns | read | write |"
    yield "|---|---|---|---|"
    for feature in FEATURES:
        concerns = "readers and writers" if feature.reader else "writers"
        read = "yes" if feature.can_read else "refused when used"
        write = "yes" if feature.can_write else "refused when used"
        yield f"| `{feature.name}` | {concerns} | {read} | {write} |"


def _errors() -> Iterator[str]:
    yield "| error | code | try again? | meaning |"
    yield "|---|---|---|---|"
    yield from _subtree(errors.HeadgateError, 0)


def _subtree(error: type[errors.HeadgateError], depth: int) -> Iterator[str]:
    summary = (inspect.getdoc(error) or "").splitlines()[0]
    children = error.__subclasses__()
    code = "" if children else f"`{error.code}`"
    retry = "" if children else error.retry.value
    yield f"| {'&emsp;' * depth}`{error.__name__}` | {code} | {retry} | {summary} |"
    for child in children:
        yield from _subtree(child, depth + 1)


def _settings() -> Iterator[str]:
    yield "| setting | default |"
    yield "|---|---|"
    for field in dataclasses.fields(Settings):
        yield f"| `{field.name}` | `{field.default}` |"


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "conflicts": _conflicts,
    "features": _features,
    "errors": _errors,
    "settings": _settings,
}


def render(page: str) -> str:
    """The page with its generated tables as the code has them."""
    return _MARKED.sub(lambda found: f"{found[1]}{_table(found[2])}\n{found[3]}", page)


def _table(name: str) -> str:
    return "\n".join(TABLES[name]())


def main() -> int:
    """Write every page, or with ``--check`` say which are stale."""
    stale = [path for path in sorted(PAGES.glob("*.md")) if render(path.read_text()) != path.read_text()]
    for path in stale:
        if "--check" in sys.argv:
            sys.stderr.write(f"{path.name} is stale: run make docs\n")
        else:
            path.write_text(render(path.read_text()))
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
