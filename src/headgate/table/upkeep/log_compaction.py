"""Writing a compaction of the log: one file that readers may take in place of several commits."""

from contextlib import suppress

from headgate.errors import InvalidRequest, ObjectExists, ObjectNotFound
from headgate.protocol.actions import Commit, Version
from headgate.protocol.log import codec, file_names, log_compaction
from headgate.storage.store import Store
from headgate.table.committer import Frontier


def write_compaction(
    store: Store, frontier: Frontier, start: Version, end: Version, *, replace: bool = False
) -> None:
    """Compact the versions from ``start`` to ``end``, all of which must be published (I5).

    One that is there already stays as it is, or with ``replace`` goes as this one comes.
    """
    if not 0 <= start < end:
        raise InvalidRequest(
            f"a compaction is of at least two versions, oldest first, and {start} to {end} is none: name "
            "others"
        )
    commits = [_published(store, frontier, Version(version)) for version in range(start, end + 1)]
    content = codec.encode(log_compaction.reconcile(commits))
    path = file_names.compaction_path(start, end)
    if replace:
        store.put(path, content)
        return
    with suppress(ObjectExists):
        store.put_if_absent(path, content)


def _published(store: Store, frontier: Frontier, version: Version) -> Commit:
    problem = f"version {version} does not exist: the latest is {frontier.latest}"
    if version <= frontier.latest:
        problem = f"version {version} is not published, or no longer: publish first, or start later"
        # What the catalog still holds counts as unpublished, whatever a listing shows.
        if version not in frontier.unpublished:
            with suppress(ObjectNotFound):
                return codec.decode(version, store.read(file_names.published_path(version)))
    raise InvalidRequest(problem, version=version)
