"""Mistakes of who publishes."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from unittest.mock import patch

from headgate.catalog import published_files
from headgate.catalog.ports.commits import CommitCatalog, TableId
from headgate.errors import ObjectExists, StorageUnavailable
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.store import Store
from headgate.table.commit import publish
from headgate.table.read import log_reader
from tests.simulation.faults import Fault
from tests.simulation.mutations.mutant import Mutant
from tests.support.simulated_catalog import SimulatedCatalog


@contextmanager
def _publishing_is_believed() -> Iterator[None]:
    def mark_published(self: SimulatedCatalog, table_id: TableId, version: Version) -> None:
        table = self._table(table_id)
        table.published = max(table.published, version)

    def present_is_published(store: Store, contents: Iterable[tuple[Version, bytes]]) -> None:
        for version, content in contents:
            with suppress(ObjectExists):
                store.put_if_absent(file_names.published_path(version), content)

    with (
        patch.object(SimulatedCatalog, "mark_published", mark_published),
        patch.object(published_files, "publish_in_order", present_is_published),
    ):
        yield


def _marked_before_written() -> AbstractContextManager[object]:
    def backwards(store: Store, catalog: CommitCatalog, table_id: TableId, _told: object) -> Version:
        tail = catalog.tail(table_id)
        if tail.commits:
            catalog.mark_published(table_id, tail.commits[-1].version)
        for commit in tail.commits:
            content = log_reader.commit_content(store, commit.version, commit)
            store.put_if_absent(file_names.published_path(commit.version), content)
        return tail.latest

    @contextmanager
    def both() -> Iterator[None]:
        with _publishing_is_believed(), patch.object(publish, "publish", backwards):
            yield

    return both()


def _newest_first() -> AbstractContextManager[object]:
    def newest_first(store: Store, catalog: CommitCatalog, table_id: TableId, _told: object) -> Version:
        tail = catalog.tail(table_id)
        for commit in reversed(tail.commits):
            published_files.publish_version(
                store, commit.version, log_reader.commit_content(store, commit.version, commit)
            )
        if tail.commits:
            catalog.mark_published(table_id, tail.commits[-1].version)
        return tail.latest

    return patch.object(publish, "publish", newest_first)


def _failed_version_is_skipped() -> AbstractContextManager[object]:
    def skipping(store: Store, contents: Iterable[tuple[Version, bytes]]) -> None:
        for version, content in contents:
            with suppress(StorageUnavailable):
                published_files.publish_version(store, version, content)

    return patch.object(published_files, "publish_in_order", skipping)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("publishing-is-believed", "whoever says that a version is published is believed",
           _publishing_is_believed, Fault.STRAY_FILE),
    Mutant("marked-before-written", "versions are marked as published, then written", _marked_before_written),
    Mutant("newest-first", "the newest version is published first", _newest_first),
    Mutant("failed-version-is-skipped", "publishing goes on after a version that failed",
           _failed_version_is_skipped),
)  # fmt: skip
