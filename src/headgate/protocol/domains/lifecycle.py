"""What becomes of a table's metadata domains when the table is replaced, restored or cloned.

Domains that nobody mentions are kept, known or not. Only clustering belongs to the state that is
replaced. A protocol that lists the clustering feature demands that the domain exists, so where
no columns are left it is emptied rather than removed (P32).
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from headgate.errors import InvalidRequest
from headgate.protocol.actions import DomainMetadata, Protocol
from headgate.protocol.domains import rules

CLUSTERING_DOMAIN = "delta.clustering"
CLUSTERING_FEATURE = "clustering"
_DEPENDENT = ("rowTracking", CLUSTERING_FEATURE)

LiveDomains = Mapping[str, DomainMetadata]
Column = tuple[str, ...]
"""A column by its path of physical names."""


class _ClusteringConfiguration(msgspec.Struct, frozen=True, rename="camel"):
    clustering_columns: tuple[str | Column, ...]
    domain_name: str = CLUSTERING_DOMAIN


def clustering_domain(columns: Iterable[Column]) -> DomainMetadata:
    """The domain of a table that is clustered by these columns."""
    configuration = msgspec.json.encode(_ClusteringConfiguration(tuple(columns))).decode()
    return DomainMetadata(domain=CLUSTERING_DOMAIN, configuration=configuration, removed=False)


def clustering_columns(live: LiveDomains) -> tuple[Column, ...]:
    """What the table is clustered by; nothing if it is not. Flat and nested lists are both understood."""
    if CLUSTERING_DOMAIN not in live:
        return ()
    parsed = msgspec.json.decode(live[CLUSTERING_DOMAIN].configuration, type=_ClusteringConfiguration)
    return tuple((column,) if isinstance(column, str) else column for column in parsed.clustering_columns)


def domains_after_replace(
    live: LiveDomains, new: Sequence[DomainMetadata], *, remove: Iterable[str] = ()
) -> tuple[DomainMetadata, ...]:
    """The actions of a REPLACE: the new domains, the clustering that ends, and what the user asks to remove.

    After a lost race it is asked again with what is live then, so that a clustering which a winner
    added ends too (P30).
    """
    given = {action.domain for action in new}
    ended = () if CLUSTERING_DOMAIN in given else _without_clustering(live)
    asked = (name for name in dict.fromkeys(remove) if name not in given)
    return (*ended, *(rules.domain_tombstone(live[name]) for name in asked if name in live), *new)


def domains_after_restore(live: LiveDomains, target: LiveDomains) -> tuple[DomainMetadata, ...]:
    """The actions of a RESTORE to a version with the domains ``target``: only clustering comes back."""
    if CLUSTERING_DOMAIN not in target:
        return _without_clustering(live)
    return () if live.get(CLUSTERING_DOMAIN) == target[CLUSTERING_DOMAIN] else (target[CLUSTERING_DOMAIN],)


def domains_after_clone(
    live: LiveDomains, source: LiveDomains, *, protocol: Protocol
) -> tuple[DomainMetadata, ...]:
    """The actions of a clone of ``source`` over a table: its clustering and nothing else.

    ``protocol`` is that of the clone; without the clustering feature, a clustering that ends is removed.
    """
    if CLUSTERING_DOMAIN in source or protocol.has(CLUSTERING_FEATURE):
        return domains_after_restore(live, source)
    return (rules.domain_tombstone(live[CLUSTERING_DOMAIN]),) if CLUSTERING_DOMAIN in live else ()


def check_same_clustering(live: LiveDomains, columns: Sequence[Column]) -> None:
    """Refuse a write that names other clustering columns than it keeps; naming the same changes nothing."""
    present = clustering_columns(live)
    if tuple(columns) != present:
        raise InvalidRequest(
            f"the table is clustered by {_shown(present)}, and only a write that replaces all rows and the "
            f"schema can change that to {_shown(columns)}: leave it out, overwrite with "
            "overwrite_schema=True, or alter the table",
            code="DELTA_CLUSTERING_COLUMNS_MISMATCH",
        )


def removals_before_feature_drop(protocol: Protocol, live: LiveDomains) -> tuple[DomainMetadata, ...]:
    """The removals that must go before dropping ``domainMetadata``; refused while a feature needs it."""
    if needing := [name for name in _DEPENDENT if protocol.has(name)]:
        raise InvalidRequest(
            f"the feature {rules.DOMAIN_METADATA} cannot be dropped while the table has "
            f"{', '.join(needing)}, which depends on it: drop that first",
            code="DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
        )
    return tuple(rules.domain_tombstone(live[name]) for name in sorted(live))


def _without_clustering(live: LiveDomains) -> tuple[DomainMetadata, ...]:
    return (clustering_domain(()),) if clustering_columns(live) else ()


def _shown(columns: Iterable[Column]) -> str:
    return ", ".join(".".join(column) for column in columns) or "no columns"
