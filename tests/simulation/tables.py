"""The kinds of tables that the simulation plays with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from headgate.clock import World
from headgate.protocol.actions import DomainMetadata, Metadata, Version
from headgate.protocol.domains.handlers import union
from headgate.protocol.domains.rules import Handlers
from headgate.protocol.log import codec
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.simulation.claims import PARTITION
from tests.simulation.serial import ISOLATION
from tests.support.tables import SCHEMA

COUNTER, COLLECTION, SOLE = "sim.counter", "sim.collection", "sim.sole"
"""Domains: two that handlers merge, and one that two at once may not write."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of table, and which operations are frequent there."""

    name: str
    favours: frozenset[str]
    properties: Mapping[str, str] = field(default_factory=dict)
    partitioned: bool = True
    relaxed: bool = False


APPENDED = Kind("appended", frozenset({"append"}), partitioned=False)
KINDS: tuple[Kind, ...] = (
    APPENDED,
    Kind("plain", frozenset({"note", "stamp", "overwrite"}), partitioned=False),
    Kind("partitioned", frozenset({"derive", "replace", "stream"})),
    Kind("tracked", frozenset({"replace", "optimize"}), {"delta.enableRowTracking": "true"}),
    Kind("with vectors", frozenset({"mark_deleted", "delete"}), {"delta.enableDeletionVectors": "true"}),
    Kind("with domains", frozenset({"count", "take"}), {"delta.feature.domainMetadata": "supported"}),
    Kind("relaxed", frozenset({"derive", "replace"}), relaxed=True),
)


def version_0(kind: Kind, properties: Mapping[str, str], *, managed: bool, world: World) -> bytes:
    """The first commit of such a table, with more properties if need be."""
    definition = TableDefinition(SCHEMA, properties={**kind.properties, **properties})
    content = create.version_0(definition, managed=managed, world=world)
    return codec.encode(
        _completed(action, kind) if isinstance(action, Metadata) else action
        for action in codec.decode_actions(Version(0), content)
    )


def _completed(metadata: Metadata, kind: Kind) -> Metadata:
    # Neither can be asked of Headgate when it makes a table; others make them.
    isolation = {ISOLATION: "WriteSerializable"} if kind.relaxed else {}
    return msgspec.structs.replace(
        metadata,
        partition_columns=(PARTITION,) if kind.partitioned else (),
        configuration={**metadata.configuration, **isolation},
    )


def _sum(base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
    before = 0 if base is None else int(base.configuration)
    total = int(winner.configuration) + int(mine.configuration) - before
    return msgspec.structs.replace(mine, configuration=str(total))


HANDLERS: Handlers = {COUNTER: _sum, COLLECTION: union}
