"""What does a write do to the metadata of its table, and may it be carried out at all?

Whoever writes rows, by Spark or without it, asks this first: rows of other columns than the table's are
refused here, or make it another table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.clock import World
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import Action, Metadata, Protocol
from headgate.protocol.features import clustering, identity_columns
from headgate.protocol.metadata import implicit_changes
from headgate.protocol.metadata.implicit_changes import MetadataPlan, WriteIntent
from headgate.protocol.schema import enforcement
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.type_widening import PREVIEW
from headgate.protocol.schema.types import as_nullable
from headgate.table.read.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PreparedWrite:
    """A write that may be carried out: from which version, and what the table is after it."""

    base: Snapshot
    planned: MetadataPlan
    metadata: Metadata
    protocol: Protocol

    @property
    def actions(self) -> tuple[Action, ...]:
        """What changes besides rows."""
        changed: list[Action] = []
        if self.protocol != self.base.state.protocol:
            changed.append(self.protocol)
        if self.planned.metadata is not None or self.moves_high_water_marks_only:
            changed.append(self.metadata)
        return tuple(changed)

    @property
    def moves_high_water_marks_only(self) -> bool:
        """Whether nothing changes but the marks of identity columns."""
        return self.planned.metadata is None and self.metadata != self.base.state.metadata

    def with_values(self, farthest: Mapping[str, int]) -> "PreparedWrite":
        """The same once rows with values up to these are in the identity columns."""
        if not farthest:
            return self
        return replace(self, metadata=identity_columns.advance_high_water_marks(self.metadata, farthest))


def plan_metadata_change(
    world: World, base: Snapshot, wish: WriteIntent, *, clustered: bool = False
) -> PreparedWrite:
    """The same for rows of which only the columns are known; ``clustered`` if it clusters the table."""
    state = base.state
    version = base.version + 1 if state.protocol.has(PREVIEW) else None
    planned = implicit_changes.plan_metadata(state.metadata, wish, uuid=world.uuid, preview_version=version)
    after = planned.metadata or state.metadata
    protocol = state.protocol
    if planned.metadata is not None:
        mapped = property_values.MAX_COLUMN_ID in after.configuration
        enforcement.check_new_schema(as_nullable(planned.schema), mapped=mapped)
        protocol = protocol_upgrade.protocol_for_changed_table(protocol, after)
        if planned.partition_columns and protocol.has(clustering.FEATURE):
            raise clustering.partitioning_error()
    if clustered and not protocol.has(clustering.FEATURE):
        protocol = protocol_upgrade.protocol_for_changed_table(protocol, after, asked={clustering.FEATURE})
    table_features.check_writable(protocol, after)
    identity_columns.check_identity_columns(after)
    enforcement.check_required_columns(wish.data, schema_json.parse(after.schema_string))
    return PreparedWrite(base, planned, after, protocol)
