"""Many writers race on an S3 server: one winner each time, and everybody is told the truth."""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TypeVar

import pytest

from headgate.catalog.ports.commits import Lost, Ratified
from headgate.errors import CommitUnknown, HeadgateError
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.object_store import ObjectStore
from headgate.table import transaction
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.read import snapshot
from tests.support import s3, tables
from tests.support.s3_proxy import Fault, Request, proxy
from tests.support.waiting import PATIENCE_SECONDS

Item = TypeVar("Item")
Answer = TypeVar("Answer")

RACERS = 64
VERSIONS = 3


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with s3.server() as url:
        yield url


def together(work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
    """What the work gives for each item, all begun at the same moment."""
    barrier = threading.Barrier(len(items))

    def begin(item: Item) -> Answer:
        barrier.wait(timeout=PATIENCE_SECONDS)
        return work(item)

    with ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(begin, items))


def logged(store: ObjectStore) -> list[Commit]:
    """Every commit but that of version 0."""
    found = [file_names.parse(item.path) for item in store.list_from(file_names.LOG_FOLDER)]
    versions = [file.version for file in found if file and file.kind is file_names.LogFileKind.PUBLISHED]
    assert versions == list(range(len(versions)))
    return [codec.decode(version, store.read(file_names.published_path(version))) for version in versions[1:]]


def txn_id(commit: Commit) -> TxnId | None:
    return commit.info.txn_id if commit.info else None


def test_of_64_who_propose_a_version_exactly_one_wins_it(server_url: str) -> None:
    name = s3.make_bucket(server_url)
    tables.create_filesystem(s3.connect(server_url, name))
    stores = [s3.connect(server_url, name, place=name) for _ in range(RACERS)]
    committers = [FilesystemCommitter(store) for store in stores]

    for version in range(1, VERSIONS + 1):
        base = snapshot.load_snapshot(stores[0], committers[0].frontier()).state
        changes = [tables.append_change(tables.named_file(f"{version}-{n}")) for n in range(RACERS)]
        txns = [transaction.begin(base, change, world=s3.HastyWorld()) for change in changes]

        proposals = [partial(committers[n].propose, txns[n]) for n in range(RACERS)]
        verdicts = together(lambda propose: propose(), proposals)

        winner = logged(stores[0])[-1]
        won = [txns[n].txn_id for n in range(RACERS) if verdicts[n] == Ratified(Version(version))]
        assert won == [txn_id(winner)]
        assert verdicts.count(Lost((winner,))) == RACERS - 1


def test_writers_who_all_go_on_until_they_win_lose_nothing_to_faults(server_url: str) -> None:
    """Twelve writers through a network that spoils every fourth request."""
    chance, name = random.Random(7), s3.make_bucket(server_url)
    faults = [Fault.CONFLICT, Fault.LOSE_REPLY, Fault.FAIL_AFTERWARDS, Fault.UNAVAILABLE, Fault.ARRIVE_LATE]
    direct = s3.connect(server_url, name)
    tables.create_filesystem(direct)

    def script(_: Request) -> Fault:
        return chance.choice(faults) if chance.random() < 0.25 else Fault.PASS

    def write(number: int) -> Version | HeadgateError:
        table = tables.open_filesystem(
            "s3:", store=s3.connect(wire.url, name, place=name), world=s3.HastyWorld()
        )
        change = replace(tables.append_change(tables.named_file(f"{number}")), txn_id=TxnId(f"txn-{number}"))
        try:
            return table.commit(change, base=base)
        except HeadgateError as exc:
            return exc

    with proxy(server_url) as wire:
        base = tables.open_filesystem("s3:", store=direct).snapshot()
        wire.play(script)
        told = together(write, range(12))
        spoiled = sum(fault is not Fault.PASS for _, fault in wire.seen)
        wire.settle()

    there = {txn_id(commit): commit.version for commit in logged(direct)}
    acknowledged = {
        f"txn-{number}": answer for number, answer in enumerate(told) if not isinstance(answer, HeadgateError)
    }
    doubted = {f"txn-{number}" for number, answer in enumerate(told) if isinstance(answer, CommitUnknown)}
    assert spoiled > 20
    assert len(there) == len(logged(direct))
    assert {key: there.get(TxnId(key)) for key in acknowledged} == acknowledged
    assert set(there) - doubted == set(acknowledged)
    assert len(acknowledged) > 6
