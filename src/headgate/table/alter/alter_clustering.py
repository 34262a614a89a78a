"""Changing what a table is clustered by; its files are laid out by OPTIMIZE, later."""

from collections.abc import Sequence

from headgate.protocol import protocol_upgrade, table_features
from headgate.protocol.actions import Action, Version
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation


def cluster_by(table: OpenedTable, names: Sequence[str]) -> Version:
    """Cluster the table by other columns, or by none; the version from which it is."""
    base = table.snapshot()
    protocol, metadata = base.state.protocol, base.state.metadata
    before = lifecycle.clustering_columns(base.state.domains)
    after = clustering.physical_columns(names, metadata)
    if before == after:
        return base.version
    upgraded = protocol_upgrade.protocol_for_changed_table(protocol, metadata, asked={clustering.FEATURE})
    table_features.check_writable(upgraded, metadata)
    actions: tuple[Action, ...] = (lifecycle.clustering_domain(after),)
    if upgraded != protocol:
        actions = (upgraded, *actions)
    told = {
        "oldClusteringColumns": ",".join(clustering.logical_names(before, metadata)),
        "newClusteringColumns": ",".join(clustering.logical_names(after, metadata)),
    }
    return table.commit(Change(Operation("CLUSTER BY", told, changes_data=False), actions), base=base)
