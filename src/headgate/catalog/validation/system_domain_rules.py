"""What clients may write into the metadata domains of Delta itself."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from headgate.protocol.actions import AddFile, DomainMetadata
from headgate.protocol.domains import rules
from headgate.protocol.features import row_tracking


class _ClusteringDomain(msgspec.Struct, frozen=True, rename="camel"):
    clustering_columns: tuple[tuple[str, ...], ...]


def domain_problem(action: DomainMetadata, adds: Sequence[AddFile]) -> str | None:
    """Why a commit that adds these files must not say this; None if it may, or the domain is a user's."""
    if not rules.is_system_domain(action.domain):
        return None
    check = _CHECKS.get(action.domain)
    if check is None:
        return f"the domain {action.domain!r} belongs to Delta itself, and clients may not write it"
    why = None if action.removed else check(action, adds)
    return None if why is None else f"the domain {action.domain!r} {why}"


def _wrong_high_water_mark(action: DomainMetadata, adds: Sequence[AddFile]) -> str | None:
    try:
        mark = row_tracking.parse_high_water_mark(action)
    except msgspec.DecodeError as exc:
        return f"has no high-water mark: {exc}"
    highest = row_tracking.highest_row_id(adds)
    return f"says {mark}, and row ids up to {highest} are given" if mark < highest else None


def _wrong_clustering(action: DomainMetadata, _: Sequence[AddFile]) -> str | None:
    try:
        msgspec.json.decode(action.configuration, type=_ClusteringDomain)
    except msgspec.DecodeError as exc:
        return f"does not say by which columns: {exc}"
    return None


_CHECKS: Mapping[str, Callable[[DomainMetadata, Sequence[AddFile]], str | None]] = MappingProxyType(
    {rules.ROW_TRACKING_DOMAIN: _wrong_high_water_mark, "delta.clustering": _wrong_clustering}
)
"""The domains of Delta itself that clients write, and what is wrong with what one says."""
