"""Mistakes of readers, and of what is written for them beside the log."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from headgate.errors import HeadgateError, StorageUnavailable
from headgate.protocol.actions import Commit, Version
from headgate.protocol.log import file_names, log_segment, version_checksum
from headgate.protocol.log.version_checksum import FileTotals
from headgate.storage.store import Store
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.read import live_files, log_reader
from headgate.table.upkeep import checkpoint_rows, checkpoint_writer
from tests.simulation.faults import Fault
from tests.simulation.mutations.mutant import Mutant


def _unreadable_is_empty() -> AbstractContextManager[object]:
    real = log_reader.list_log

    def listed(store: Store, **asked: Version | None) -> list[file_names.LogFile]:
        try:
            return real(store, **asked)
        except StorageUnavailable:
            return []

    return patch.object(log_reader, "list_log", listed)


@contextmanager
def _listing_decides_the_latest() -> Iterator[None]:
    real = log_segment.build

    def build(listing: Any, *, held: Any = (), latest: Any = None, target: Any = None) -> Any:
        files = list(listing)
        found = [file.version for file in files]
        return real(files, held=held, latest=max([*found, *held]), target=target)

    with patch.object(log_segment, "build", build):
        yield


def _published_copy_wins() -> AbstractContextManager[object]:
    real = log_reader.commit_content

    def content(store: Store, version: Version, held: Any) -> bytes:
        try:
            return store.read(file_names.published_path(version))
        except HeadgateError:
            return real(store, version, held)

    return patch.object(log_reader, "commit_content", content)


def _removes_are_ignored() -> AbstractContextManager[object]:
    real = live_files.reconcile

    def reconcile(known: Any, commits: Any) -> Any:
        return real(known, (replace(commit, removes=()) for commit in commits))

    return patch.object(live_files, "reconcile", reconcile)


@contextmanager
def _checkpoint_before_publishing() -> Iterator[None]:
    """Publishing is put off, and the checkpoint is not."""
    with (
        patch.object(ManagedCommitter, "publish", lambda self, _told=None: self.frontier().latest),
        patch.object(checkpoint_writer, "_check_published", lambda _, __: 0),
    ):
        yield


def _checkpoint_without_domains() -> AbstractContextManager[object]:
    real = checkpoint_writer._small_rows

    def rows(*args: Any) -> Iterable[Any]:
        return (row for row in real(*args) if row[0] != "domainMetadata")

    return patch.object(checkpoint_writer, "_small_rows", rows)


def _checkpoint_keeps_removed() -> AbstractContextManager[object]:
    return patch.object(checkpoint_rows._FileRows, "_undecided", lambda self, rows, mentioned: rows)


def _totals_without_removes() -> AbstractContextManager[object]:
    real = version_checksum.totals_after

    def totals_after(before: FileTotals, commit: Commit) -> FileTotals | None:
        return real(before, replace(commit, removes=()))

    return patch.object(version_checksum, "totals_after", totals_after)


def _totals_of_files_described_twice() -> AbstractContextManager[object]:
    def totals_after(before: FileTotals, commit: Commit) -> FileTotals:
        removed = sum(remove.size or 0 for remove in commit.removes)
        return FileTotals(
            before.files + len(commit.adds) - len(commit.removes),
            before.size_bytes + sum(add.size for add in commit.adds) - removed,
        )

    return patch.object(version_checksum, "totals_after", totals_after)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("unreadable-is-empty", "a listing that fails is taken for an empty one", _unreadable_is_empty,
           Fault.LOST_REQUEST),
    Mutant("listing-decides", "a reader takes the last listed version for the latest",
           _listing_decides_the_latest, Fault.STRAY_FILE),
    Mutant("published-copy-wins", "a reader prefers the published file to the catalog's copy",
           _published_copy_wins, Fault.STRAY_FILE),
    Mutant("removes-are-ignored", "a snapshot keeps removed files", _removes_are_ignored),
    Mutant("checkpoint-before-publishing", "a checkpoint is made of a version that is only ratified",
           _checkpoint_before_publishing),
    Mutant("checkpoint-without-domains", "a checkpoint leaves the domains out", _checkpoint_without_domains),
    Mutant("checkpoint-keeps-removed", "a checkpoint keeps files of the one before that were removed since",
           _checkpoint_keeps_removed),
    Mutant("checksum-without-removes", "a checksum counts files that were removed", _totals_without_removes),
    Mutant("checksum-counts-twice", "a checksum counts files again that only got row ids",
           _totals_of_files_described_twice),
)  # fmt: skip
