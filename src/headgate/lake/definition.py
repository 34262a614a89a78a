"""What a table is, as its user asks and changes it: columns, properties, features, domains, owner, log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from headgate.deferred import deferred
from headgate.errors import InvalidRequest
from headgate.protocol.domains.rules import RemoveDomain, SetDomain
from headgate.protocol.features.coordinated_commits import CURRENT
from headgate.protocol.schema import column_path
from headgate.spark.session import schema
from headgate.spark.session.schema import SchemaLike
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.plugins import coordinators
    from headgate.protocol.metadata.alter_columns import After, ColumnPosition, First
    from headgate.spark.commands import check_constraints
    from headgate.spark.session import kind
    from headgate.spark.write import identity_high_water
    from headgate.table.alter import (
        alter_clustering,
        alter_columns,
        coordination,
        forced_release,
        set_properties,
    )
    from headgate.table.alter.forced_release import ForcedRelease
else:
    After, First = deferred("headgate.protocol.metadata.alter_columns", "After", "First")
    coordinators = deferred("headgate.plugins", "coordinators")
    check_constraints = deferred("headgate.spark.commands", "check_constraints")
    kind = deferred("headgate.spark.session", "kind")
    identity_high_water = deferred("headgate.spark.write", "identity_high_water")
    alter_clustering, alter_columns, coordination, forced_release, set_properties = deferred(
        "headgate.table.alter",
        "alter_clustering",
        "alter_columns",
        "coordination",
        "forced_release",
        "set_properties",
    )
    ForcedRelease = deferred("headgate.table.alter.forced_release", "ForcedRelease")


@dataclass(frozen=True, slots=True)
class TableAlteration:
    """Each method that changes the table is one commit, and gives its version; no row is touched."""

    opened: OpenedTable

    def publish(self) -> int:
        """Publish every ratified version to ``_delta_log``; the latest of them.

        orders.publish()
        """
        return self.opened.publish()

    def checkpoint(self) -> int:
        """Write a checkpoint of the latest version, so that readers need not replay the log; that version.

        After every ``delta.checkpointInterval`` commits it happens by itself.

            orders.checkpoint()
        """
        return self.opened.checkpoint()

    def compact_log(self, start: int, end: int) -> None:
        """Write one file that readers may take in place of the commits from ``start`` to ``end``.

        orders.publish()
        orders.compact_log(0, 2)
        """
        self.opened.compact_log(start, end)

    def cleanup_log(self) -> tuple[str, ...]:
        """Delete what is older than ``delta.logRetentionDuration`` from the log; the paths of what is gone.

        The versions before the checkpoint that stays can then no longer be read; leased ones stay. A
        catalog-managed table's log belongs to its catalog: refused, unless ``lake.permit`` allowed it or
        you own the table.

            gone = orders.cleanup_log()
        """
        return self.opened.cleanup_log()

    def domains(self, *, version: int | None = None) -> Mapping[str, str]:
        """The table's metadata domains and their configurations, now or at a version.

        assert orders.domains() == {"shop.loaded": "2"}
        """
        return self.opened.domains(version=version)

    def domain(self, name: str, *, version: int | None = None) -> str | None:
        """The configuration of one metadata domain, None if there is no such domain.

        assert orders.domain("shop.loaded") == "2"
        """
        return self.domains(version=version).get(name)

    def set_domain(self, name: str, configuration: str, *, since: int | None = None) -> int:
        """Give a metadata domain a configuration; the version that has it.

        If you decided from what the domain was at a version, say so with ``since``: whatever others
        made of it after that is then merged by the domain's handler, or is a conflict.

            orders.set_domain("shop.loaded", "3")
        """
        return self.change_domains({name: configuration}, since=since)

    def remove_domain(self, name: str, *, since: int | None = None) -> int:
        """Take a metadata domain away; the version without it.

        orders.remove_domain("shop.loaded")
        """
        return self.change_domains({}, remove=(name,), since=since)

    def change_domains(
        self, configurations: Mapping[str, str], *, remove: Iterable[str] = (), since: int | None = None
    ) -> int:
        """Set and remove several metadata domains in one commit; its version.

        orders.change_domains({"shop.source": "web"}, remove=["shop.loaded"])
        """
        sets = [SetDomain(name, configuration) for name, configuration in configurations.items()]
        return self.opened.change_domains((*sets, *map(RemoveDomain, remove)), since=since)

    def add_columns(
        self, columns: SchemaLike, *, into: str | None = None, first: bool = False, after: str | None = None
    ) -> int:
        """Add columns, ``"note STRING, price DECIMAL(10,2)"``; rows that are there have nulls in them.

        ``into`` names a struct that gets them (``"address"``, ``"lines.element"``). They come ``first``,
        ``after`` another one, or behind all.

            orders.add_columns("note STRING, price DECIMAL(10, 2)", after="sku")
        """
        added = schema.table_schema(columns).fields
        parent = () if into is None else column_path.parse_path(into)
        return alter_columns.add_columns(
            self.opened, added, parent=parent, place=_column_position(first=first, after=after)
        )

    def rename_column(self, column: str, to: str) -> int:
        """Give a column (``"day"``, ``"address.city"``) another name.

        Takes column mapping: ``set_properties({"delta.columnMapping.mode": "name"})`` rewrites nothing.

            orders.set_properties({"delta.columnMapping.mode": "name"})
            orders.rename_column("sku", "item")
        """
        return alter_columns.rename_column(self.opened, column_path.parse_path(column), to)

    def drop_columns(self, *columns: str) -> int:
        """Take columns away; what the files have of them is no longer read. Takes column mapping.

        orders.set_properties({"delta.columnMapping.mode": "name"})
        orders.drop_columns("sku")
        """
        return alter_columns.drop_columns(self.opened, map(column_path.parse_path, columns))

    def move_column(self, column: str, *, first: bool = False, after: str | None = None) -> int:
        """Put a column ``first`` in its struct, or ``after`` another one.

        orders.move_column("sku", first=True)
        """
        place = _column_position(first=first, after=after)
        if place is None:
            raise InvalidRequest(f"say where column {column} goes: first=True, or after='another'")
        return alter_columns.move_column(self.opened, column_path.parse_path(column), place)

    def widen_column(self, column: str, to: str) -> int:
        """Give a column a wider type, ``widen_column("id", "BIGINT")``; the files stay as they are.

        What is in arrays and maps is named as ``tags.element``, ``prices.key`` and ``prices.value``.
        Takes the property ``delta.enableTypeWidening``. Wider are: integers with more bytes, doubles for
        floats and integers, decimals with more digits on both sides, a timestamp without zone for a date.
        Without it a CHAR or VARCHAR becomes a longer VARCHAR, or a STRING.

            orders.set_properties({"delta.enableTypeWidening": "true"})
            orders.widen_column("n", "BIGINT")
        """
        wanted = schema.table_schema(f"`c` {to}").fields[0].type
        return alter_columns.change_column_type(self.opened, column_path.parse_path(column), wanted)

    def set_column_comment(self, column: str, comment: str | None) -> int:
        """Set a column's comment, or remove it with None.

        orders.set_column_comment("n", "how many were ordered")
        """
        return alter_columns.set_column_comment(self.opened, column_path.parse_path(column), comment)

    def set_column_default(self, column: str, expression: str | None) -> int:
        """Say in SQL what a column is in new rows that do not say it, or with None nothing.

        Takes the feature ``allowColumnDefaults``. Rows that are there stay as they are.

            orders.add_feature("allowColumnDefaults")
            orders.set_column_default("n", "0")
        """
        return alter_columns.set_column_default(self.opened, column_path.parse_path(column), expression)

    def drop_not_null(self, column: str) -> int:
        """Let a column be null from now on.

        orders.drop_not_null("id")
        """
        return alter_columns.drop_not_null(self.opened, column_path.parse_path(column))

    def sync_identity(
        self, column: str, *, may_lower: bool = False, spark: SparkSession | None = None
    ) -> int:
        """Have the values of an identity column go on behind the farthest that its rows have.

        Needed only after others wrote values of their own into it, and did not say so. With ``may_lower``
        values may come again of rows that were deleted.

            orders.sync_identity("id")
        """
        return identity_high_water.sync(
            spark or kind.active_session(), self.opened, column, may_lower=may_lower
        )

    def cluster_by(self, *columns: str) -> int:
        """Store rows with values alike in these columns, at most four, together; with none, stop that.

        New files are not laid out by it at once: ``optimize`` does that, as far as it is not done.

            lake.table("sales.stock").cluster_by("sku")
        """
        return alter_clustering.cluster_by(self.opened, columns)

    def add_constraint(self, name: str, expression: str, *, spark: SparkSession | None = None) -> int:
        """Demand of every row that a condition is true, ``add_constraint("positive", "amount > 0")``.

        The rows that are there are looked at first; if some break it, it is refused.

            orders.add_constraint("positive", "n > 0")
        """
        return check_constraints.add(spark or kind.active_session(), self.opened, name, expression)

    def drop_constraint(self, name: str, *, if_exists: bool = False) -> int:
        """Demand it no longer.

        orders.drop_constraint("positive", if_exists=True)
        """
        return check_constraints.drop(self.opened, name, if_exists=if_exists)

    def properties(self) -> Mapping[str, str]:
        """The table's properties.

        assert "delta.enableInCommitTimestamps" in orders.properties()
        """
        return dict(self.opened.describe().metadata.configuration)

    def set_properties(self, properties: Mapping[str, str]) -> int:
        """Give properties these values, in one commit; the version that has them.

        Delta's own, ``delta.*``, are checked, and add the features they need; see the reference page
        of properties. ``delta.enableRowTracking`` first gives ids to the rows that are there, in commits
        before this one. If nothing changes there is no new version. The name and conf of a commit
        coordinator, ``delta.coordinatedCommits.…``, give the table to it as ``coordinate`` does.

            orders.set_properties({"delta.appendOnly": "true"})
        """
        if CURRENT.coordinator in properties:
            return coordination.coordinate_by_properties(
                self.opened, coordinators.find_coordinator, properties
            )
        return set_properties.set_properties(self.opened, properties)

    def unset_properties(self, names: Iterable[str], *, if_exists: bool = False) -> int:
        """Take properties away; the version without them. Each must be there, unless ``if_exists``.

        orders.unset_properties(["delta.appendOnly"], if_exists=True)
        """
        return set_properties.unset_properties(self.opened, tuple(names), if_exists=if_exists)

    def set_comment(self, comment: str | None) -> int:
        """Set the table's comment, or remove it with None; the version that says so.

        orders.set_comment("what customers ordered")
        """
        return set_properties.set_comment(self.opened, comment)

    def add_feature(self, name: str) -> int:
        """Have the table's protocol name a feature, and those it requires; the version from which it does.

        Clients that do not know it can then no longer write the table, or not even read it.

            orders.add_feature("deletionVectors")
        """
        return set_properties.add_feature(self.opened, name)

    def upgrade_protocol(self, reader_version: int, writer_version: int) -> int:
        """Have the protocol ask what these versions do, at least; the version from which it does.

        orders.upgrade_protocol(2, 5)
        """
        return set_properties.upgrade_protocol(self.opened, reader_version, writer_version)

    def drop_feature(self, name: str, *, truncate_history: bool = False) -> int:
        """Switch a feature off and have the protocol no longer name it; the version from which it does not.

        Refused while rows, files or other features depend on it. Older versions keep it; if that concerns
        readers, the table gets the feature ``checkpointProtection``, or with ``truncate_history`` loses
        those versions, once they are old enough. That of a coordinator, ``coordinatedCommits-preview``, goes
        by ``uncoordinate``.

            orders.add_feature("deletionVectors")
            orders.drop_feature("deletionVectors")
        """
        return set_properties.drop_feature(self.opened, name, truncate_history=truncate_history)

    def coordinate(self, owner: str, conf: Mapping[str, str]) -> int:
        """Give an ordinary table to a coordinator, by its name and conf; the version that says so.

        From then on the coordinator decides every commit, and the file system need guarantee nothing. If
        somebody commits meanwhile: ``ConcurrentWrite``, and nothing happened.

            events.coordinate("files", {})  # a coordinator that was registered by this name
        """
        return coordination.coordinate(self.opened, coordinators.find_coordinator, owner, conf)

    def uncoordinate(self, *, keep_timestamps: bool = True) -> int:
        """Take the table back from its coordinator; the version from which it is an ordinary one.

        Everything is published then. After a failure in the middle, repeat it. Its in-commit timestamps
        stay on, which some clients cannot write (deltalake is one): with ``keep_timestamps=False`` they go
        too, in a commit of their own.

            events.uncoordinate()  # of a table that a coordinator decides about
        """
        return coordination.uncoordinate(self.opened, keep_timestamps=keep_timestamps)

    def force_uncoordinate(self, owner: str) -> ForcedRelease:
        """Take the table back from a coordinator that is lost for good; name it, so that it is no accident.

        The table goes on after its last published version. What the coordinator ratified only is lost
        to the table: the answer names every staged file that may have been ratified, and none is deleted.
        Refused while the coordinator answers. First make sure that nobody reaches it from elsewhere: its
        commits would be lost.

            events.force_uncoordinate("files")  # of a table whose coordinator is lost
        """
        return forced_release.force_release(self.opened, owner)


def _column_position(*, first: bool, after: str | None) -> "ColumnPosition":
    if first and after is not None:
        raise InvalidRequest("a column goes first or after another one, not both")
    if first:
        return First()
    return None if after is None else After(after)
