"""Checksum files: written after a commit succeeded, believed where that helps, never needed."""

from contextlib import suppress
from dataclasses import replace

import pyarrow.compute as pc
from msgspec import structs

from headgate.errors import ObjectExists, ObjectNotFound
from headgate.protocol.actions import CommitInfo, Version
from headgate.protocol.log import file_names, version_checksum
from headgate.protocol.log.replay import State
from headgate.protocol.log.version_checksum import Checksum, Discrepancy, FileTotals
from headgate.storage.store import Store, put_losable
from headgate.table.committer import Frontier
from headgate.table.read.live_files import LiveFiles


def write_checksum(store: Store, state: State, totals: FileTotals, *, replace: bool = False) -> None:
    """Write the checksum of a version, published or not; one that is there already stays as it is (F9).

    Unless it is found to be wrong: with ``replace`` it goes as this one comes.
    """
    path, content = (
        file_names.checksum_path(state.version),
        version_checksum.render(version_checksum.build_checksum(state, totals)),
    )
    if replace:
        store.put(path, content)
        return
    with suppress(ObjectExists):
        put_losable(store, path, content)  # nothing depends on it, and a later version has its own


def read_checksum(store: Store, version: Version) -> Checksum | None:
    """The checksum of a version, if it has a legible one."""
    try:
        return version_checksum.parse(store.read(file_names.checksum_path(version)))
    except ObjectNotFound:
        return None


def find_checksum(store: Store, version: Version, frontier: Frontier) -> Checksum | None:
    """The checksum of a version: the copy of the catalog if it has one, else what is in the file."""
    return catalog_checksum(version, frontier) or read_checksum(store, version)


def catalog_checksum(version: Version, frontier: Frontier) -> Checksum | None:
    """The checksum of a version by the word of the catalog, which has compared it with its books."""
    known = frontier.checksum
    return version_checksum.parse(known.content) if known is not None and known.version == version else None


def catalog_commit_info(state: State, frontier: Frontier) -> CommitInfo | None:
    """What the catalog's copy has of the commitInfo, the txnId and the timestamp: no commit is read for them.

    None unless the copy says of the version what the log says.
    """
    found = catalog_checksum(state.version, frontier)
    if found is None or found.in_commit_timestamp_opt is None:
        return None
    if version_checksum.compare_checksums(
        found, version_checksum.build_checksum(state, version_checksum.totals_from_checksum(found))
    ):
        return None
    return CommitInfo(in_commit_timestamp=found.in_commit_timestamp_opt, txn_id=found.txn_id)


def latest_checksum(store: Store, frontier: Frontier) -> Checksum | None:
    """The checksum of the latest version, if what was listed has one: nobody goes looking for it."""
    path = file_names.checksum_path(frontier.latest)
    there = any(file.path == path for file in frontier.listing or ())
    return read_checksum(store, frontier.latest) if there else None


def verify_checksum(store: Store, state: State, files: LiveFiles) -> tuple[Discrepancy, ...] | None:
    """In what a version differs from its checksum; None if it has none."""
    recorded = read_checksum(store, state.version)
    if recorded is None:
        return None
    sizes = files.without_stats["size"]
    totals = FileTotals(len(sizes), pc.sum(sizes).as_py() or 0)
    return version_checksum.compare_checksums(recorded, version_checksum.build_checksum(state, totals))


def with_commit_timestamp(store: Store, state: State, frontier: Frontier) -> State:
    """The state with its in-commit timestamp, if the table promises one that only the checksum has."""
    if not state.has_in_commit_timestamps or state.in_commit_timestamp is not None:
        return state
    recorded = find_checksum(store, state.version, frontier)
    if recorded is None or recorded.in_commit_timestamp_opt is None:
        return state
    info = state.info or CommitInfo(txn_id=recorded.txn_id)
    return replace(state, info=structs.replace(info, in_commit_timestamp=recorded.in_commit_timestamp_opt))
