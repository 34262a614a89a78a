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

CLUSTERING = "delta.clustering"
CLUSTERING_FEATURE = "clustering"
_DEPENDENT = ("rowTracking", CLUSTERING_FEATURE)

Live = Mapping[str, DomainMetadata]
Column = tuple[str, ...]
"""A column by its path of physical names."""


class _Clustering(msgspec.Struct, frozen=True, rename="camel"):
    clustering_columns: tuple[str | Column, ...]
    domain_name: str = CLUSTERING


def clustering(columns: Iterable[Column]) -> DomainMetadata:
    """The domain of a table that is clustered by these columns."""
    configuration = msgspec.json.encode(_Clustering(tuple(columns))).decode()
    return DomainMetadata(domain=CLUSTERING, configuration=configuration, removed=False)


def clustering_columns(live: Live) -> tuple[Column, ...]:
    """What the table is clustered by; nothing if it is not. Flat and nested lists are both understood."""
    if CLUSTERING not in live:
        return ()
    parsed = msgspec.json.decode(live[CLUSTERING].configuration, type=_Clustering)
    return tuple((column,) if isinstance(column, str) else column for column in parsed.clustering_columns)


def after_replace(
    live: Live, new: Sequence[DomainMetadata], *, remove: Iterable[str] = ()
) -> tuple[DomainMetadata, ...]:
    """The actions of a REPLACE: the new domains, the clustering that ends, and what the user asks to remove.

    After a lost race it is asked again with what is live then, so that a clustering which a winner
    added ends too (P30).
    """
    given = {action.domain for action in new}
    ended = () if CLUSTERING in given else _emptied(live)
    asked = (name for name in dict.fromkeys(remove) if name not in given)
    return (*ended, *(rules.tombstone(live[name]) for name in asked if name in live), *new)


def after_restore(live: Live, target: Live) -> tuple[DomainMetadata, ...]:
    """The actions of a RESTORE to a version with the domains ``target``: only clustering comes back."""
    if CLUSTERING not in target:
        return _emptied(live)
    return () if live.get(CLUSTERING) == target[CLUSTERING] else (target[CLUSTERING],)


def after_clone(live: Live, source: Live, *, protocol: Protocol) -> tuple[DomainMetadata, ...]:
    """The actions of a clone of ``source`` over a table: its clustering and nothing else.

    ``protocol`` is that of the clone; without the clustering feature, a clustering that ends is removed.
    """
    if CLUSTERING in source or protocol.has(CLUSTERING_FEATURE):
        return after_restore(live, source)
    return (rules.tombstone(live[CLUSTERING]),) if CLUSTERING in live else ()


def check_restated(live: Live, columns: Sequence[Column]) -> None:
    """Refuse a write that names other clustering columns than it keeps; naming the same changes nothing."""
    present = clustering_columns(live)
    if tuple(columns) != present:
        raise InvalidRequest(
            f"the table is clustered by {_shown(present)}, and only a write that replaces all rows and the "
            f"schema can change that to {_shown(columns)}: leave it out, overwrite with "
            "overwrite_schema=True, or alter the table",
            code="DELTA_CLUSTERING_COLUMNS_MISMATCH",
        )


def before_dropping_the_feature(protocol: Protocol, live: Live) -> tuple[DomainMetadata, ...]:
    """The removals that must go before dropping ``domainMetadata``; refused while a feature needs it."""
    if needing := [name for name in _DEPENDENT if protocol.has(name)]:
        raise InvalidRequest(
            f"the feature {rules.FEATURE} cannot be dropped while the table has {', '.join(needing)}, "
            "which depends on it: drop that first",
            code="DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
        )
    return tuple(rules.tombstone(live[name]) for name in sorted(live))


def _emptied(live: Live) -> tuple[DomainMetadata, ...]:
    return (clustering(()),) if clustering_columns(live) else ()


def _shown(columns: Iterable[Column]) -> str:
    return ", ".join(".".join(column) for column in columns) or "no columns"
