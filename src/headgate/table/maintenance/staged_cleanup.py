"""Deleting staged files of proposals that lost: proven losers only, and not at once."""

from collections.abc import Collection, Iterable

from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log import file_names as log_file_names
from headgate.storage.store import ObjectMeta, Store


def old_staged_files(store: Store, *, published: Version, before: EpochMillis) -> tuple[ObjectMeta, ...]:
    """The staged files of published versions that were written before a moment.

    Such a version is taken, so no proposal of that file can be ratified any more; whether it was, the catalog
    knows. A file of a later version may still win.
    """
    return tuple(
        meta
        for meta in store.list_from(log_file_names.STAGED_FOLDER)
        if (version := log_file_names.staged_version(_name(meta))) is not None
        and version <= published
        and meta.modified_ms < before
    )


def unratified_paths(found: Iterable[ObjectMeta], ratified: Collection[str]) -> tuple[str, ...]:
    """The paths of those that no ratified commit names."""
    return tuple(meta.path for meta in found if _name(meta) not in ratified)


def staged_names(found: Iterable[ObjectMeta]) -> tuple[str, ...]:
    """Their names in the folder of staged files."""
    return tuple(_name(meta) for meta in found)


def _name(meta: ObjectMeta) -> str:
    return meta.path.removeprefix(log_file_names.STAGED_FOLDER)
