"""What does the reference of the Python API say? Signatures, docstrings and examples, as the code has them.

A docstring's last paragraph is an example, which a test runs; what stands before it becomes text. A signature
is shown as a stub, with types as a user writes them.
"""

import enum
import inspect
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from textwrap import dedent
from typing import Any

import headgate
from headgate.lake.transaction import LakeSnapshot, LakeTransaction

_PATHS = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])")
_OPTIONAL = re.compile(r"\bOptional\[(\w+)\]")
_LITERALS = (bool, int, float, str, bytes, tuple, frozenset, timedelta, type(None))
_LONGEST = 100


def functions() -> Iterator[str]:
    """The functions of the package, by name."""
    for name in headgate.__all__:
        if inspect.isfunction(found := getattr(headgate, name)):
            yield from _call(f"headgate.{name}", found)


def lake() -> Iterator[str]:
    """What a lake can do."""
    yield from _members(headgate.Lake)


def table() -> Iterator[str]:
    """What a table can do."""
    yield from _members(headgate.Table)


def transactions() -> Iterator[str]:
    """What a transaction and a snapshot of several tables can do."""
    yield from _members(LakeTransaction)
    yield from _members(LakeSnapshot)


def values() -> Iterator[str]:
    """The values that calls take and give."""
    for name in headgate.__all__:
        found = getattr(headgate, name)
        if isinstance(found, enum.EnumType):
            yield from _heading(f"headgate.{name}", found)
            yield from (f"* `{name}.{member.name}`" for member in found)
            yield ""
        elif inspect.isclass(found) and found not in (headgate.Lake, headgate.Table):
            yield from _heading(f"headgate.{name}", found)
            yield from _fields(name, found)


def _members(owner: type) -> Iterator[str]:
    for name in sorted(name for name in dir(owner) if not name.startswith("_")):
        found = inspect.getattr_static(owner, name)
        if isinstance(found, property):
            yield from _heading(f"{owner.__name__}.{name}", found)
        elif inspect.isfunction(found):
            yield from _call(f"{owner.__name__}.{name}", found)


def _call(name: str, function: Callable[..., Any]) -> Iterator[str]:
    text, _, example = _docstring(function).rpartition("\n\n")
    yield f"### `{name}`"
    yield ""
    yield from _stub(name.rpartition(".")[2], function)
    yield text
    yield ""
    yield from _code(dedent(example).splitlines())


def _heading(name: str, found: object) -> Iterator[str]:
    yield f"### `{name}`"
    yield ""
    yield _docstring(found)
    yield ""


def _docstring(found: object) -> str:
    return (inspect.getdoc(found) or "").replace("``", "`")


def _fields(name: str, found: Callable[..., Any]) -> Iterator[str]:
    """What a value has, and what its constructor takes by name."""
    arguments = _arguments(inspect.signature(found))
    yield from _code([f"class {name}:", *(f"    {argument}" for argument in arguments if argument != "*")])


def _stub(name: str, found: Callable[..., Any]) -> Iterator[str]:
    """The signature; a line for each argument if it is long."""
    signature = inspect.signature(found)
    begin, result = f"def {name}(", f") -> {_type(signature.return_annotation)}: ..."
    arguments = list(_arguments(signature))
    whole = begin + ", ".join(arguments) + result
    if len(whole) <= _LONGEST:
        yield from _code([whole])
    else:
        yield from _code([begin, *(f"    {argument}," for argument in arguments), result])


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    named = False
    for argument in signature.parameters.values():
        if argument.name == "self":
            continue
        if argument.kind is argument.KEYWORD_ONLY and not named:
            yield "*"
        named = named or argument.kind in (argument.KEYWORD_ONLY, argument.VAR_POSITIONAL)
        stars = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
        default = "" if argument.default is argument.empty else f" = {_default(argument.default)}"
        yield f"{stars}{argument.name}: {_type(argument.annotation)}{default}"


def _type(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _OPTIONAL.sub(r"\1 | None", _PATHS.sub("", text).replace("datetime.", ""))


def _default(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    return repr(value).removeprefix("datetime.") if isinstance(value, _LITERALS) else "..."


def _code(lines: list[str]) -> Iterator[str]:
    yield "```py"
    yield from lines
    yield "```"
    yield ""


PARTS = {
    "api_functions": functions,
    "api_lake": lake,
    "api_table": table,
    "api_transactions": transactions,
    "api_values": values,
}
"""The generated parts of the pages, by the names of their marks."""
