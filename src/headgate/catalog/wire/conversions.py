"""How does a value of the ports travel as JSON, and come back as the same value? By a plan, made once a type.

The values of the ports are frozen dataclasses, structs, enums, bytes and collections of these. Most of them
msgspec reads and writes as they are. What it cannot tell apart, such as the outcomes of a proposal, travels
with its ``kind``:

    {"kind": "Ratified", "version": 7}
    {"kind": "Lost", "winners": […]}

Whoever takes requests from strangers is strict: fields that a type does not have are refused, and so are
numbers that no database holds. Whoever reads an answer is not, so that a newer server may say more.
"""

import dataclasses
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from typing import Annotated, Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

KIND = "kind"
"""The field that says which of several types a value is."""
LARGEST_NUMBER = 2**53 - 1
"""Beyond it, numbers in JSON are not the same to everybody."""

Convert = Callable[[Any], Any]
_Number = Annotated[int, msgspec.Meta(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
_SERIES = (Iterable, Sequence, Collection)
_UNIONS = (Union, types.UnionType)


@dataclass(frozen=True, slots=True)
class Conversion:
    """How values of one type travel: as what msgspec sees, and how they become that and are made of it."""

    wire: Any
    to_wire: Convert | None = None
    """None: they are that already."""
    from_wire: Convert | None = None

    @property
    def is_plain(self) -> bool:
        """Whether values travel as they are."""
        return self.to_wire is None and self.from_wire is None

    def send(self, value: Any) -> Any:
        return value if self.to_wire is None else self.to_wire(value)

    def receive(self, value: Any) -> Any:
        return value if self.from_wire is None else self.from_wire(value)


@dataclass(frozen=True, slots=True)
class _Record:
    """The fields of a dataclass or a struct."""

    type: Any
    names: tuple[str, ...]
    spelled: tuple[str, ...]
    annotations: tuple[Any, ...]
    defaults: tuple[Any, ...]
    """``msgspec.NODEFAULT`` where there is none, or what makes one."""
    by_name: bool
    """Whether it takes its fields by name only."""


class Conversions:
    """The plans for types, each made when it is first asked for; safe to share between threads."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._records: dict[tuple[Any, bool], Conversion] = {}

    def plan(self, annotation: Any, bound: Mapping[Any, Any] | None = None) -> Conversion:
        """How values of this type travel; ``bound`` has the types of type variables."""
        bound = bound or {}
        if isinstance(annotation, TypeVar):
            return self.plan(bound[annotation])
        if isinstance(annotation, NewType):
            return self.plan(annotation.__supertype__)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in _UNIONS:
            return self._union([each for each in arguments if each is not types.NoneType], arguments, bound)
        if origin is tuple and arguments[-1] is not Ellipsis:
            return _positions([self.plan(each, bound) for each in arguments])
        if origin is tuple or origin in _SERIES:
            return _series(self.plan(arguments[0], bound), exact=origin is tuple)
        if origin is frozenset:
            return Conversion(frozenset[self.plan(arguments[0], bound).wire])  # type: ignore[misc]
        if origin is Mapping:
            return _mapping(*(self.plan(each, bound) for each in arguments))
        if _is_record(origin or annotation):
            return self._record(annotation, tagged=False)
        return Conversion(self._scalar(annotation))

    def _scalar(self, annotation: Any) -> Any:
        if annotation is int and self._strict:
            return _Number
        if annotation is object:
            return Any
        if isinstance(annotation, type) and issubclass(annotation, Exception):
            return None  # what is wrong with a line of a log is told by whoever reads it
        return annotation

    def _union(self, members: list[Any], arguments: Sequence[Any], bound: Mapping[Any, Any]) -> Conversion:
        if all(_is_record(get_origin(each) or each) for each in members) and len(members) > 1:
            found = self._tagged([_bind(each, bound) for each in members])
        elif len(members) == 1:
            found = self.plan(members[0], bound)
        elif str in members and any(_is_enum(each) for each in members):
            found = Conversion(str, _enum_value)
        else:
            scalars = tuple(self.plan(each, bound).wire for each in members)
            found = Conversion(Union[scalars])  # noqa: UP007
        return _optional(found) if types.NoneType in arguments else found

    def _tagged(self, members: Sequence[Any]) -> Conversion:
        plans = {get_origin(each) or each: self._record(each, tagged=True) for each in members}
        sending = {kind: plan.send for kind, plan in plans.items()}
        receiving = {plan.wire: plan.receive for plan in plans.values()}
        wire: Any = Union[tuple(plan.wire for plan in plans.values())]  # noqa: UP007
        return Conversion(
            wire, lambda value: sending[type(value)](value), lambda value: receiving[type(value)](value)
        )

    def _record(self, annotation: Any, *, tagged: bool) -> Conversion:
        known = self._records.get((annotation, tagged))
        if known is None:
            known = self._records[annotation, tagged] = self._planned(annotation, tagged=tagged)
        return known

    def _planned(self, annotation: Any, *, tagged: bool) -> Conversion:
        kind = get_origin(annotation) or annotation
        bound = dict(zip(getattr(kind, "__parameters__", ()), get_args(annotation), strict=True))
        record = _described(kind)
        plans = tuple(self.plan(each, bound) for each in record.annotations)
        if not self._strict and not tagged and all(plan.is_plain for plan in plans):
            return Conversion(kind)
        wire = self._mirror(record, plans, tagged=tagged)
        return Conversion(wire, _sender(record, plans, wire), _receiver(record, plans))

    def _mirror(self, record: _Record, plans: Sequence[Conversion], *, tagged: bool) -> Any:
        fields = zip(record.names, plans, record.defaults, strict=True)
        return msgspec.defstruct(
            record.type.__name__,
            [
                (name, plan.wire) if default is msgspec.NODEFAULT else (name, plan.wire, default)
                for name, plan, default in fields
            ],
            rename=dict(zip(record.names, record.spelled, strict=True)),
            tag_field=KIND if tagged else None,
            tag=record.type.__name__ if tagged else None,
            forbid_unknown_fields=self._strict,
            kw_only=record.by_name,
            frozen=True,
        )


def plain_value(value: Any) -> Any:
    """What msgspec does not know, such as a name that is more than a text, as something that it does."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, msgspec.Struct))


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _enum_value(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _bind(annotation: Any, bound: Mapping[Any, Any]) -> Any:
    """A generic type with its variables replaced."""
    generic, arguments = get_origin(annotation), get_args(annotation)
    return annotation if generic is None else generic[tuple(bound.get(each, each) for each in arguments)]


def _described(kind: Any) -> _Record:
    if dataclasses.is_dataclass(kind):
        hints, fields = get_type_hints(kind, include_extras=True), dataclasses.fields(kind)
        names = tuple(field.name for field in fields)
        defaults = tuple(_default(field) for field in fields)
        return _Record(kind, names, names, tuple(hints[name] for name in names), defaults, by_name=False)
    structured = msgspec.structs.fields(kind)
    return _Record(
        kind,
        tuple(field.name for field in structured),
        tuple(field.encode_name for field in structured),
        tuple(field.type for field in structured),
        tuple(field.default for field in structured),
        by_name=True,
    )


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.NODEFAULT if field.default is dataclasses.MISSING else field.default


def _sender(record: _Record, plans: Sequence[Conversion], wire: Any) -> Convert:
    values = _reader(record, [plan.to_wire for plan in plans])
    if record.by_name:
        return lambda value: wire(**dict(zip(record.names, values(value), strict=True)))
    return lambda value: wire(*values(value))


def _receiver(record: _Record, plans: Sequence[Conversion]) -> Convert:
    values, kind = _reader(record, [plan.from_wire for plan in plans]), record.type
    if record.by_name:
        return lambda value: kind(**dict(zip(record.names, values(value), strict=True)))
    return lambda value: kind(*values(value))


def _reader(record: _Record, converts: Sequence[Convert | None]) -> Callable[[Any], Sequence[Any]]:
    """What reads the fields of a value, in order, each converted."""
    if not record.names:
        return lambda _: ()
    found = attrgetter(*record.names)
    read: Callable[[Any], Sequence[Any]] = found if len(record.names) > 1 else lambda value: (found(value),)
    changed = [(index, convert) for index, convert in enumerate(converts) if convert is not None]
    if not changed:
        return read

    def converted(value: Any) -> Sequence[Any]:
        values = list(read(value))
        for index, convert in changed:
            values[index] = convert(values[index])
        return values

    return converted


def _optional(plan: Conversion) -> Conversion:
    wire: Any = Union[plan.wire, None]  # noqa: UP007
    return Conversion(wire, _unless_none(plan.to_wire), _unless_none(plan.from_wire))


def _unless_none(convert: Convert | None) -> Convert | None:
    return convert and (lambda value: None if value is None else convert(value))


def _series(item: Conversion, *, exact: bool) -> Conversion:
    """Many of one type; ``exact`` if they are a tuple on both sides."""
    wire: Any = tuple[item.wire, ...]  # type: ignore[name-defined]
    return Conversion(wire, _each(item.to_wire) or (None if exact else tuple), _each(item.from_wire))


def _each(convert: Convert | None) -> Convert | None:
    return convert and (lambda values: tuple(map(convert, values)))


def _positions(items: Sequence[Conversion]) -> Conversion:
    wire: Any = tuple[tuple(item.wire for item in items)]  # type: ignore[misc]
    if all(item.is_plain for item in items):
        return Conversion(wire)
    return Conversion(
        wire,
        lambda values: tuple(item.send(value) for item, value in zip(items, values, strict=True)),
        lambda values: tuple(item.receive(value) for item, value in zip(items, values, strict=True)),
    )


def _mapping(key: Conversion, value: Conversion) -> Conversion:
    wire: Any = dict[key.wire, value.wire]  # type: ignore[name-defined]
    return Conversion(wire, _values(value.to_wire), _values(value.from_wire))


def _values(convert: Convert | None) -> Convert | None:
    return convert and (lambda found: {key: convert(each) for key, each in found.items()})
