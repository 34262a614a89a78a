"""Reading a table's commits, wherever they are."""

from headgate.catalog.api import Inline, RatifiedCommit, Staged
from headgate.protocol import codec, names
from headgate.protocol.actions import Commit, Version
from headgate.storage.api import Store
from headgate.table.committer import Frontier


def content(store: Store, version: Version, held: RatifiedCommit | None) -> bytes:
    """The bytes of one version: the catalog's copy if it holds one, else the published file."""
    match held.where if held is not None else None:
        case Inline(inline):
            return inline
        case Staged(file_name):
            return store.read(names.STAGED + file_name)
        case None:
            return store.read(names.published(version))


def read(store: Store, version: Version, frontier: Frontier) -> Commit:
    """The actions of one version."""
    return codec.decode(version, content(store, version, frontier.held.get(version)))


def published_paths(store: Store, *, after: Version | None = None) -> list[str]:
    """The files of ``_delta_log``, or those named after version ``after``."""
    start = names.published(after) if after is not None else None
    return [found.path for found in store.list_from(names.LOG, after=start)]
