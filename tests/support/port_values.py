"""Any value of the ports, made from its type; and all that is in one, to compare."""

import collections.abc
import dataclasses
import types
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT, int: NUMBERS, bool: st.booleans(), bytes: st.binary(max_size=16), Any: JSON, object: JSON,
    float: st.floats(allow_nan=False, allow_infinity=False), types.NoneType: st.none(),
}  # fmt: skip
_SERIES = (collections.abc.Iterable, collections.abc.Sequence, collections.abc.Collection)


def values(annotation: Any, bound: Mapping[Any, Any] | None = None) -> st.SearchStrategy[Any]:
    """Values of a type."""
    bound = bound or {}
    if isinstance(annotation, TypeVar):
        return values(bound[annotation])
    if isinstance(annotation, NewType):
        return values(annotation.__supertype__)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        limits = next(each for each in arguments if isinstance(each, msgspec.Meta))
        return st.integers(limits.ge, limits.le)  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        return st.one_of([values(each, bound) for each in arguments])
    if origin is tuple and arguments[-1] is not Ellipsis:
        return st.tuples(*(values(each, bound) for each in arguments))
    if origin is tuple or origin in _SERIES:
        return st.lists(values(arguments[0], bound), max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(values(arguments[0], bound), max_size=3)
    if origin is collections.abc.Mapping:
        return st.dictionaries(*(values(each, bound) for each in arguments), max_size=2)
    return _named(origin or annotation, arguments)


def _named(kind: Any, arguments: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if issubclass(kind, Exception):
        return st.nothing()
    if issubclass(kind, Enum):
        return st.sampled_from(kind)
    bound = dict(zip(getattr(kind, "__parameters__", ()), arguments, strict=True))
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else hints
    made = st.fixed_dictionaries({name: values(hints[name], bound) for name in names})
    return made.map(lambda found: kind(**found))


def everything(value: Any) -> Any:
    """All that is in a value, what it does not compare itself included; an enum by its value."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return type(value).__name__, {field.name: everything(getattr(value, field.name)) for field in fields}
    if isinstance(value, msgspec.Struct):
        named = value.__struct_fields__
        return type(value).__name__, {name: everything(getattr(value, name)) for name in named}
    if isinstance(value, Mapping):
        return {key: everything(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [everything(each) for each in value]
    return value
