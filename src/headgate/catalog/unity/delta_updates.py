"""What does a server have to hear of a commit besides its file? What the commit changes of the table itself.

The commit says all of this too; a server that does not read commits knows a table by what it is told here.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

import msgspec

from headgate.catalog.wire import delta_api, delta_columns
from headgate.catalog.wire.delta_api import (
    ClusteringDomain,
    DomainsBody,
    RemoveDomainMetadata,
    RemoveProperties,
    RowTrackingDomain,
    SetColumns,
    SetDomainMetadata,
    SetPartitionColumns,
    SetProperties,
    SetProtocol,
    SetTableComment,
    Updates,
)
from headgate.catalog.wire.derived_properties import is_derived
from headgate.protocol.actions import Commit, DomainMetadata, Metadata
from headgate.protocol.domains.lifecycle import CLUSTERING_DOMAIN
from headgate.protocol.domains.rules import ROW_TRACKING_DOMAIN
from headgate.protocol.schema import json as schema_json

Domain = TypeVar("Domain", ClusteringDomain, RowTrackingDomain)


def own_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties that are a table's own: a server adds some, which are never sent back."""
    return {key: value for key, value in properties.items() if not is_derived(key)}


def domains_body(domains: tuple[DomainMetadata, ...]) -> DomainsBody | None:
    """The two domains that the API knows; the server need not hear of others, which are in the log."""
    live = {each.domain: each.configuration for each in domains if not each.removed}
    found = DomainsBody(
        clustering=_parsed(live.get(CLUSTERING_DOMAIN), ClusteringDomain),
        row_tracking=_parsed(live.get(ROW_TRACKING_DOMAIN), RowTrackingDomain),
    )
    return found if found.clustering is not None or found.row_tracking is not None else None


def _parsed(configuration: str | None, kind: type[Domain]) -> Domain | None:
    if configuration is not None:
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(configuration, type=kind)
    return None


def updates_of(commit: Commit, before: Mapping[str, str]) -> Iterator[Updates]:
    """All that a commit changes, of a table that had these properties; at most one update of each kind."""
    if commit.metadata is not None:
        yield from _metadata_updates(commit.metadata, own_properties(before))
    if commit.protocol is not None:
        yield SetProtocol(protocol=delta_api.protocol_body(commit.protocol))
    written = domains_body(commit.domains)
    if written is not None:
        yield SetDomainMetadata(updates=written)
    removed = tuple(
        each.domain
        for each in commit.domains
        if each.removed and each.domain in (CLUSTERING_DOMAIN, ROW_TRACKING_DOMAIN)
    )
    if removed:
        yield RemoveDomainMetadata(domains=removed)


def _metadata_updates(metadata: Metadata, before: Mapping[str, str]) -> Iterator[Updates]:
    after = metadata.configuration
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    removed = tuple(sorted(before.keys() - after.keys()))
    if changed:
        yield SetProperties(updates=changed)
    if removed:
        yield RemoveProperties(removals=removed)
    yield SetColumns(columns=delta_columns.columns_to_wire(schema_json.parse(metadata.schema_string)))
    yield SetPartitionColumns(partition_columns=metadata.partition_columns)
    if metadata.description is not None:
        yield SetTableComment(comment=metadata.description)
