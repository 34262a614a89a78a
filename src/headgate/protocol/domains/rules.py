"""What may happen to the metadata domains of a table: in one commit, and when two commits race.

A domain is a name with a configuration. What begins with ``delta.`` belongs to Delta itself, on every way in:
the name of a domain, and the keys of a configuration that is a JSON object, but for those under the name of
its own domain. So ``deltaFeatureX`` may have ``{"delta.deltaFeatureX.value1": "colA, colB"}``.

``acme.mark`` is 90 when two begin. The winner sets 120, and we want

    {"domainMetadata":{"domain":"acme.mark","configuration":"100","removed":false}}

With a handler for ``acme.*`` that takes the larger number, what we commit after the winner is 120. Without
one it is a ``DomainConflict``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from headgate.errors import ConcurrentTransaction, DomainConflict, InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Action, DomainMetadata, Protocol

DOMAIN_METADATA = "domainMetadata"
ROW_TRACKING_DOMAIN = "delta.rowTracking"
_RESERVED = "delta."
SINCE_WITHOUT_DOMAINS = "since says from which version the domains were decided: give domains too"
_ADVICE = "; nothing was committed, run the operation again on the new version"

Handler = Callable[[DomainMetadata | None, DomainMetadata, DomainMetadata], DomainMetadata]
"""``handler(base, winner, mine)`` gives what is committed after ``winner`` instead of ``mine``.

``base`` is the domain just before the winner, None if there was none. Either side may be a removal.
It is called once for each winner that wrote the domain, in order, with the last result as ``mine``;
so it must depend on its arguments alone. Raising ``DomainConflict`` refuses, as does the
``ConcurrentTransaction`` that it is.
"""

Handlers = Mapping[str, Handler]
"""Handlers by the exact name of a domain, or by a prefix, written ``acme.*``; the longest match counts."""

PREFIX_WILDCARD = ".*"


@dataclass(frozen=True, slots=True)
class SetDomain:
    """Give a domain this configuration, whether or not it has one."""

    domain: str
    configuration: str


@dataclass(frozen=True, slots=True)
class RemoveDomain:
    """Take a domain away."""

    domain: str


DomainEdit = SetDomain | RemoveDomain


@dataclass(frozen=True, slots=True)
class DomainSettings:
    """The configurations that a write or a statement gives to domains in the commit of its rows."""

    configurations: Mapping[str, str] = field(default_factory=dict)
    since: int | None = None
    """From which version they were decided; None for the latest one."""

    def __post_init__(self) -> None:
        if not isinstance(self.configurations, Mapping):
            raise InvalidRequest(
                "domains is a mapping of names to configurations, such as {'acme.watermark': '100'}, not "
                f"{type(self.configurations).__name__}"
            )
        if self.since is not None and not self.configurations:
            raise InvalidRequest(SINCE_WITHOUT_DOMAINS)
        if self.configurations:
            _check_edits(tuple(SetDomain(name, text) for name, text in self.configurations.items()))

    @property
    def actions(self) -> tuple[DomainMetadata, ...]:
        """What a commit says of them."""
        return tuple(
            DomainMetadata(domain=name, configuration=configuration, removed=False)
            for name, configuration in self.configurations.items()
        )

    def beside(self, protocol: Protocol, others: Iterable[Action]) -> tuple[Action, ...]:
        """The ``others`` of a commit with these as well; the protocol names the feature by then."""
        known = tuple(others)
        if not self.configurations:
            return known
        written = next((action for action in known if isinstance(action, Protocol)), protocol)
        upgraded = protocol_upgrade.with_features(written, (DOMAIN_METADATA,))
        rest = tuple(action for action in known if not isinstance(action, Protocol))
        return (*(() if upgraded == protocol else (upgraded,)), *rest, *self.actions)


NO_DOMAINS = DomainSettings()


def domain_actions(
    protocol: Protocol, live: Mapping[str, DomainMetadata], edits: Iterable[DomainEdit]
) -> tuple[Action, ...]:
    """What one commit must contain to make these changes to the ``live`` domains of a table.

    Setting the first domain of a table adds the feature to its protocol.
    """
    asked = tuple(edits)
    _check_edits(asked)
    last = {edit.domain: edit for edit in asked}
    changed = tuple(_action(protocol, live, edit) for edit in last.values())
    if not changed:
        return ()
    upgraded = protocol_upgrade.with_features(protocol, (DOMAIN_METADATA,))
    return changed if upgraded is protocol else (upgraded, *changed)


def check_domain_name(name: str) -> None:
    """Refuse a name that users may not change."""
    if not name:
        raise InvalidRequest("a metadata domain needs a name, such as acme.watermark")
    if is_system_domain(name):
        raise InvalidRequest(
            f"the metadata domain {name!r} belongs to Delta itself, as do all whose names begin with "
            f"{_RESERVED!r} in any case: choose another name, such as acme.watermark",
            code="HEADGATE_DOMAIN_RESERVED",
            domain=name,
        )


def is_system_domain(name: str) -> bool:
    """Whether only the client itself may touch the domain."""
    return name.lower().startswith(_RESERVED)


def reserved_keys(domain: str, configuration: str) -> tuple[str, ...]:
    """The keys of a user's domain that belong to Delta itself; none of what is no JSON object."""
    if is_system_domain(domain) or (_RESERVED not in configuration.lower() and "\\" not in configuration):
        return ()
    try:
        keys = msgspec.json.decode(configuration, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return ()
    own = f"{_RESERVED}{domain}.".lower()
    return tuple(key for key in keys if is_system_domain(key) and not key.lower().startswith(own))


def check_domain_keys(domain: str, configuration: str) -> None:
    """Refuse a configuration with keys that users may not have."""
    if found := reserved_keys(domain, configuration):
        raise InvalidRequest(
            f"the key {found[0]!r} of the metadata domain {domain!r} belongs to Delta itself, as do all that "
            f"begin with {_RESERVED!r} in any case: choose another, or one under '{_RESERVED}{domain}.'",
            code="HEADGATE_DOMAIN_RESERVED",
            domain=domain,
            key=found[0],
        )


def check_domain_actions(protocol: Protocol, written: Sequence[DomainMetadata]) -> None:
    """Refuse a commit that writes a domain twice, or domains its table does not have the feature for."""
    counts = Counter(action.domain for action in written)
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise InvalidRequest(
            f"one commit has more than one action for the metadata domain {', '.join(map(repr, twice))}; "
            "only one can be meant",
            code="DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR",
            domains=tuple(twice),
        )
    if counts and not protocol.has(DOMAIN_METADATA):
        raise _unsupported(sorted(counts))


def apply_domain_actions(
    live: Mapping[str, DomainMetadata], written: Iterable[DomainMetadata]
) -> dict[str, DomainMetadata]:
    """The live domains once these actions are applied; what was removed is gone."""
    latest = {**live, **{action.domain: action for action in written}}
    return {name: action for name, action in latest.items() if not action.removed}


def domain_tombstone(live: DomainMetadata) -> DomainMetadata:
    """The removal of a domain, which keeps what it was."""
    return msgspec.structs.replace(live, removed=True)


def rebase_domains(
    handlers: Handlers,
    live: Mapping[str, DomainMetadata],
    winner: Sequence[DomainMetadata],
    mine: Sequence[DomainMetadata],
) -> tuple[DomainMetadata, ...]:
    """Our domain actions after one winner's; ``live`` are the domains just before that winner.

    For the next winner the live domains are those of ``after(live, winner)``: there our side already
    contains this winner's.
    """
    theirs = {action.domain: action for action in winner}
    return tuple(
        resolve_domain(handlers, live.get(ours.domain), theirs[ours.domain], ours)
        if ours.domain in theirs
        else ours
        for ours in mine
    )


def resolve_domain(
    handlers: Handlers,
    base: DomainMetadata | None,
    winner: DomainMetadata,
    mine: DomainMetadata,
) -> DomainMetadata:
    """One domain that both sides of a race wrote, merged; raises ``DomainConflict`` if nobody can."""
    domain = mine.domain
    handler = find_handler(handlers, domain)
    if handler is None:
        raise DomainConflict(
            f"both transactions write the metadata domain {domain!r}, and there is no handler that could "
            f"merge the two{_ADVICE}",
            domain=domain,
        )
    try:
        merged = handler(base, winner, mine)
    except ConcurrentTransaction as exc:  # by the name that Delta has for it, too
        raise DomainConflict(
            f"both transactions write the metadata domain {domain!r}, and its handler {_name(handler)} "
            f"refuses to merge them: {exc.message}{_ADVICE}",
            code=exc.code,
            domain=domain,
        ) from exc
    except Exception as exc:
        raise _handler_error(handler, domain, f"raised {type(exc).__name__}: {exc}") from exc
    _check_merged(handler, domain, merged)
    # A removal keeps what it removes, and that is what the winner left.
    return msgspec.structs.replace(merged, configuration=winner.configuration) if merged.removed else merged


def find_handler(handlers: Handlers, domain: str) -> Handler | None:
    """What merges this domain: the client itself, the handler of its name, or that of its longest prefix."""
    if is_system_domain(domain):
        return _SYSTEM.get(domain)
    if domain in handlers:
        return handlers[domain]
    prefixes = [
        pattern
        for pattern in handlers
        if pattern.endswith(PREFIX_WILDCARD) and domain.startswith(pattern.removesuffix("*"))
    ]
    return handlers[max(prefixes, key=len)] if prefixes else None


def _check_edits(edits: Sequence[DomainEdit]) -> None:
    for edit in edits:
        check_domain_name(edit.domain)
        if isinstance(edit, SetDomain) and not isinstance(edit.configuration, str):
            raise InvalidRequest(
                f"the configuration of the metadata domain {edit.domain!r} must be text, not "
                f"{type(edit.configuration).__name__}: give JSON text, or use headgate.domains.StringMap",
                domain=edit.domain,
            )
        if isinstance(edit, SetDomain):
            check_domain_keys(edit.domain, edit.configuration)
    both = {edit.domain for edit in edits if isinstance(edit, SetDomain)} & {
        edit.domain for edit in edits if isinstance(edit, RemoveDomain)
    }
    if both:
        raise InvalidRequest(
            f"one commit cannot both set and remove the metadata domain {', '.join(map(repr, sorted(both)))}",
            code="DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR",
            domains=tuple(sorted(both)),
        )


def _action(protocol: Protocol, live: Mapping[str, DomainMetadata], edit: DomainEdit) -> DomainMetadata:
    match edit:
        case SetDomain(domain, configuration):
            return DomainMetadata(domain=domain, configuration=configuration, removed=False)
        case RemoveDomain(domain) if not protocol.has(DOMAIN_METADATA):
            raise _unsupported([domain])
        case RemoveDomain(domain) if domain not in live:
            known = ", ".join(map(repr, sorted(live))) or "none"
            raise InvalidRequest(
                f"there is no metadata domain {domain!r} to remove; the table has: {known}",
                code="HEADGATE_DOMAIN_NOT_FOUND",
                domain=domain,
            )
        case RemoveDomain(domain):
            return domain_tombstone(live[domain])


def _unsupported(domains: Sequence[str]) -> InvalidRequest:
    return InvalidRequest(
        f"the table has no metadata domains, so {', '.join(map(repr, domains))} cannot be written: its "
        f"protocol lacks the feature {DOMAIN_METADATA}, which setting a domain through Headgate adds",
        code="DELTA_DOMAIN_METADATA_NOT_SUPPORTED",
        domains=tuple(domains),
    )


def _check_merged(handler: Handler, domain: str, merged: object) -> None:
    if not isinstance(merged, DomainMetadata):
        raise _handler_error(handler, domain, f"gave {type(merged).__name__} instead of a DomainMetadata")
    if merged.domain != domain:
        raise _handler_error(handler, domain, f"gave an action for another domain, {merged.domain!r}")
    if not isinstance(merged.configuration, str) or not isinstance(merged.removed, bool):
        raise _handler_error(
            handler, domain, "gave a configuration that is not text, or removed that is not a bool"
        )


def _handler_error(handler: Handler, domain: str, what: str) -> DomainConflict:
    return DomainConflict(
        f"both transactions write the metadata domain {domain!r}, and its handler {_name(handler)} {what}"
        f"{_ADVICE}, and mend the handler",
        code="HEADGATE_DOMAIN_HANDLER_FAILED",
        domain=domain,
    )


def _name(handler: Handler) -> str:
    """How its author would find it: ``module.function``, or whatever it calls itself."""
    qualified = getattr(handler, "__qualname__", None)
    return f"{handler.__module__}.{qualified}" if qualified else repr(handler)


class _RowTracking(msgspec.Struct, frozen=True, rename="camel"):
    row_id_high_water_mark: int


def _max_high_water_mark(
    _: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata
) -> DomainMetadata:
    """Row ids handed out stay handed out; a rebase that assigns new ones writes its own mark afterwards."""
    return max(mine, winner, key=_high_water_mark)


def _high_water_mark(action: DomainMetadata) -> int:
    return msgspec.json.decode(action.configuration, type=_RowTracking).row_id_high_water_mark


_SYSTEM: Handlers = {ROW_TRACKING_DOMAIN: _max_high_water_mark}
