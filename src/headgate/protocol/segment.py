"""Which commits make up one version of a table: a listing, corrected by the catalog.

The catalog wins twice: its commits replace published files of the same version, and nothing
after its latest version exists, whatever the listing says.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from headgate.errors import CorruptLog, UnsupportedFeature, VersionNotFound
from headgate.protocol import names
from headgate.protocol.actions import Version


@dataclass(frozen=True, slots=True)
class Segment:
    """The versions to replay, oldest first, and which of them the catalog holds."""

    versions: range
    from_catalog: frozenset[Version]


def build(
    listing: Iterable[str],
    *,
    held: Collection[Version] = (),
    latest: Version | None = None,
    target: Version | None = None,
) -> Segment:
    """Choose the commits of ``target`` (default: the latest).

    ``held`` are the versions the catalog holds and ``latest`` is its latest version; both are
    absent for a table without a catalog, whose latest version is the last one listed.
    """
    # spec: reading-catalog-managed-tables, R2 and R3
    files = [found for path in listing if (found := names.parse(path)) and _visible(found.version, latest)]
    published = {file.version for file in files if file.kind is names.Kind.PUBLISHED}
    newest = latest if latest is not None else max(published, default=None)
    if newest is None:
        raise CorruptLog("the log has no commit", code="DELTA_TABLE_NOT_FOUND")
    wanted = newest if target is None else target
    if not 0 <= wanted <= newest:
        raise VersionNotFound(
            f"version {wanted} does not exist: the table has versions 0 to {newest}",
            asked=wanted, earliest=0, latest=newest,
        )  # fmt: skip

    versions = range(wanted + 1)
    missing = [version for version in versions if version not in published and version not in held]
    if missing:
        raise _incomplete(missing, files, wanted)
    return Segment(versions, frozenset(Version(version) for version in held if version <= wanted))


def _visible(version: Version, latest: Version | None) -> bool:
    return latest is None or version <= latest


def _incomplete(
    missing: list[int], files: list[names.LogFile], wanted: Version
) -> CorruptLog | UnsupportedFeature:
    checkpoints = [file.version for file in files if file.kind is names.Kind.CHECKPOINT]
    if missing[0] == 0 and any(max(missing) <= version <= wanted for version in checkpoints):
        return UnsupportedFeature(
            f"versions 0 to {missing[-1]} were cleaned up and live on in a checkpoint, "
            "which this version of Headgate cannot read",
            operation="read", features=("checkpoint",),
        )  # fmt: skip
    return CorruptLog(
        f"version {missing[0]} is missing from the log, which must reach version {wanted}; "
        "no older version is served in its place",
        version=missing[0],
    )
