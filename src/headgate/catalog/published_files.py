"""Is a file of the log exactly what was ratified? Placing it there, and comparing.

Nothing that is there is ever overwritten, and nobody's word counts: what a file is, is read and hashed.
"""

from collections.abc import Iterable, Iterator

from headgate.catalog.ports.commits import RatifiedCommit, StagedCommit, fingerprint
from headgate.errors import CorruptLog, ObjectExists
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage import parallel_reads
from headgate.storage.store import Store

STRAY_FILE_CODE = "DELTA_TXN_LOG_FAILED_INTEGRITY"
"""The code of every error that says: this file is not what was ratified."""


def publish_version(files: Store, version: Version, content: bytes) -> None:
    """Make ``content`` the published file of its version, or see that it is; ``CorruptLog`` if another is."""
    path = file_names.published_path(version)
    try:
        files.put_if_absent(path, content)
    except ObjectExists as exc:
        if files.read(path) != content:
            raise _differs_error(version) from exc


def publish_in_order(files: Store, contents: Iterable[tuple[Version, bytes]]) -> None:
    """Place versions in their order; it stops at the first that fails, so no gap can arise (I3)."""
    contents = list(contents)
    if len(contents) == 1 or not isinstance(files, parallel_reads.OrderedPuts):
        for version, content in contents:
            publish_version(files, version, content)
        return
    versions = {file_names.published_path(version): (version, content) for version, content in contents}
    try:
        files.put_in_order([(path, content) for path, (_, content) in versions.items()])
    except ObjectExists as exc:
        raise _differs_error(versions[str(exc.fields["path"])][0]) from exc


def _differs_error(version: Version) -> CorruptLog:
    path = file_names.published_path(version)
    return CorruptLog(
        f"{path} exists and differs from the ratified version {version}; it is not overwritten: "
        "find out who wrote it, move it away and publish again",
        code=STRAY_FILE_CODE, version=version,
    )  # fmt: skip


def check_fingerprint(commit: RatifiedCommit, content: bytes) -> bytes:
    """The content of a commit that lies where others may write, if it is what was ratified (T5)."""
    if commit.sha256 is not None and fingerprint(content) != commit.sha256:
        raise CorruptLog(
            f"the staged file {_path(commit)} of version {commit.version}, of {len(content)} bytes, is no "
            "longer what was ratified; nothing else is read in its place: restore it from a backup, and find "
            "out who may write to the log",
            code=STRAY_FILE_CODE, version=commit.version, path=_path(commit),
        )  # fmt: skip
    return content


def _path(commit: RatifiedCommit) -> str:
    return (
        commit.where.path
        if isinstance(commit.where, StagedCommit)
        else file_names.published_path(commit.version)
    )


def batch_versions(
    contents: Iterable[tuple[Version, bytes]], *, count: int, size: int
) -> Iterator[list[tuple[Version, bytes]]]:
    """Consecutive versions, as many at a time as this, or as many bytes."""
    batch: list[tuple[Version, bytes]] = []
    weight = 0
    for item in contents:
        batch.append(item)
        weight += len(item[1])
        if len(batch) == count or weight >= size:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch
