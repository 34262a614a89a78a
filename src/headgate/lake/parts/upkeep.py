"""What a table offers to those who tend it: other layouts of its files, older versions, and less waste."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pyspark.sql import Column, SparkSession

from headgate.deferred import deferred
from headgate.protocol.domains.rules import DomainSettings
from headgate.table.maintenance import symlink_manifests
from headgate.table.maintenance.symlink_manifests import GeneratedManifests
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.spark.calls import moments
    from headgate.spark.dml.dml_metrics import OperationResult
    from headgate.spark.optimize import optimize
    from headgate.spark.session import kind
    from headgate.table.alter import restore
    from headgate.table.alter.restore import RestoreResult
    from headgate.table.maintenance import vacuum
    from headgate.table.maintenance.vacuum import VacuumOptions, VacuumResult
else:
    moments = deferred("headgate.spark.calls", "moments")
    OperationResult = deferred("headgate.spark.dml.dml_metrics", "OperationResult")
    optimize = deferred("headgate.spark.optimize", "optimize")
    kind = deferred("headgate.spark.session", "kind")
    restore = deferred("headgate.table.alter", "restore")
    RestoreResult = deferred("headgate.table.alter.restore", "RestoreResult")
    vacuum = deferred("headgate.table.maintenance", "vacuum")
    VacuumOptions, VacuumResult = deferred(
        "headgate.table.maintenance.vacuum", "VacuumOptions", "VacuumResult"
    )


@dataclass(frozen=True, slots=True)
class TableUpkeep:
    """The part of a table that changes how it is stored, or brings back what it was."""

    opened: OpenedTable

    def restore(
        self,
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        domains: Mapping[str, str] | None = None,
    ) -> RestoreResult:
        """Make the table what it was at a version or a moment, in a commit that sets these ``domains`` too.

        The versions since stay readable, so this too can be undone. Whoever commits meanwhile wins:
        ``ConcurrentWrite``, and nothing happened.

            orders.restore(version=1)
        """
        moment = None if timestamp is None else moments.to_epoch_millis(timestamp)
        settings = DomainSettings(domains or {})
        return restore.restore(self.opened, version=version, timestamp=moment, domains=settings)

    def optimize(
        self,
        where: Column | str | None = None,
        *,
        z_order_by: Sequence[str] = (),
        full: bool = False,
        domains: Mapping[str, str] | None = None,
        spark: SparkSession | None = None,
    ) -> OperationResult:
        """Put small files together into ones of ``delta.targetFileSize`` (256 MB); no row changes.

        Only in the partitions that ``where`` selects, if it is given. With ``z_order_by`` all rows there are
        laid out anew, those with values alike in these columns together. A clustered table is laid out so
        by its own columns, as far as it is not yet, or with ``full`` altogether. Whoever deletes rows of
        the same files meanwhile wins; appends are not disturbed. Whoever does not own a catalog-managed table
        needs the catalog's permission: ``lake.permit(name, "data reorganisation")``. The commit sets these
        ``domains`` too, and there is one for them even if no file is worth it.

            orders.optimize(where="day >= DATE'2026-01-01'")
        """
        return optimize.optimize(
            spark or kind.active_session(),
            self.opened,
            where,
            z_order_by=z_order_by,
            full=full,
            domains=DomainSettings(domains or {}),
        )

    def purge(
        self,
        where: Column | str | None = None,
        *,
        domains: Mapping[str, str] | None = None,
        spark: SparkSession | None = None,
    ) -> OperationResult:
        """Rewrite the files that have deleted rows, so that a later ``vacuum`` deletes those for good.

        ``domains`` are those of ``optimize``.

            orders.purge()
        """
        return optimize.purge(
            spark or kind.active_session(), self.opened, where, DomainSettings(domains or {})
        )

    def vacuum(
        self,
        retention: timedelta | None = None,
        *,
        dry_run: bool = False,
        lite: bool = False,
        enforce_retention: bool = True,
    ) -> VacuumResult:
        """Delete the data files that no version younger than ``retention`` needs; which ones, and their size.

        By default that is ``delta.deletedFileRetentionDuration``; less is refused unless you say
        ``enforce_retention=False``, because readers and writers at work could lose files. ``dry_run``
        only tells. ``lite`` looks only at files whose removal is still in the log. Whoever does not own a
        catalog-managed table needs the catalog's permission: ``lake.permit(name, "data cleanup")``.

            print(orders.vacuum(dry_run=True))
        """
        wish = VacuumOptions(retention, dry_run=dry_run, lite=lite, enforce_retention=enforce_retention)
        return vacuum.vacuum(self.opened, wish)

    def generate(self, mode: str = symlink_manifests.SYMLINKS) -> GeneratedManifests:
        """List the table's files, by partition, for engines that read such lists and no log (Presto, Athena).

        The lists are in ``_symlink_format_manifest``, and are true of this version until you write them
        again. Refused where files have deleted rows in them, or columns are mapped.

            orders.generate()
        """
        return symlink_manifests.generate_manifests(self.opened, mode)
