"""Whatever somebody who may only append makes of an append: what was there before is there after it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.commits import TableId
from headgate.errors import HeadgateError
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    CommitInfo,
    DeletionVector,
    RemoveFile,
    TxnId,
)
from headgate.protocol.log import codec
from headgate.protocol.transaction import fresh_file_names
from tests.support.catalogs import a_catalog
from tests.support.proposals import inline, stamp
from tests.support.tables import NAME, create_managed, named_file, open_managed

NUMBERS = st.sampled_from([-(2**63), -1, 0, 1, 2**31, 2**50 + 1, 2**62, 2**63 - 1])
LIVE = ["old/a.parquet", "old/b c.parquet", "d.parquet"]
GONE = "old/gone.parquet"
APPS = st.sampled_from(["the owner's", "eve's", "nobody's yet"])
_COUNT = count()


@dataclass(frozen=True)
class Scene:
    """A table with files of the owner, and what may only append to it."""

    owner: Catalog
    eve: Catalog
    table_id: TableId
    location: str

    def files(self) -> Counter[str]:
        found = open_managed(self.owner, self.table_id, self.location).snapshot().files.columns
        return Counter(map(repr, found.to_pylist()))

    def txns(self) -> dict[str, AppTransaction]:
        told = self.owner.tail(self.table_id).description
        assert told is not None
        return dict(told.txns or {})

    def propose(self, by: Catalog, txn_id: str, *actions: Action) -> None:
        version = self.owner.tail(self.table_id).latest + 1
        info = CommitInfo(in_commit_timestamp=stamp(version), txn_id=TxnId(txn_id))
        by.propose(inline(self.table_id, version, txn_id, data=codec.encode((info, *actions))))


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with a_catalog("sqlite", tmp_path_factory.mktemp("hostile")) as catalog:
        staging = create_managed(catalog)
        catalog.granting.grant(Privilege.APPEND, str(NAME), "eve")
        made = Scene(catalog, catalog.acting_as("eve"), staging.table_id, staging.location)
        first = (AppTransaction(app_id="the owner's", version=5), named_file(GONE))
        made.propose(catalog, "first", *first, *map(named_file, LIVE))
        made.propose(catalog, "second", RemoveFile(path=GONE, data_change=True))
        yield made


def _spellings(path: str) -> st.SearchStrategy[str]:
    quoted = "".join(f"%{ord(letter):02x}" if letter.isalpha() else letter for letter in path)
    absolute = [f"/lake/{path}", f"file:///lake/{path}"]
    return st.sampled_from([path, f"./{path}", f"x/../{path}", path.replace("/", "//"), quoted, *absolute])


@st.composite
def hostile_adds(draw: st.DrawFn, marked: str) -> AddFile:
    """A new file of an append, with anything about it changed."""
    add = named_file(f"{marked}-1/{draw(st.integers(0, 3))}.parquet")
    changes = {
        "path": st.sampled_from([*LIVE, GONE]).flatmap(_spellings),
        "size": NUMBERS,
        "modification_time": NUMBERS,
        "base_row_id": NUMBERS,
        "default_row_commit_version": NUMBERS,
        "data_change": st.booleans(),
        "partition_values": st.just({"id": "1"}),
        "stats": NUMBERS.map(lambda number: f'{{"numRecords":{number}}}'),
        "deletion_vector": st.builds(
            DeletionVector,
            storage_type=st.sampled_from("uip"),
            path_or_inline_dv=st.just("a" * 20),
            size_in_bytes=st.just(1),
            cardinality=NUMBERS,
        ),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(changes)), max_size=2, unique=True))
    return msgspec.structs.replace(add, **{name: draw(changes[name]) for name in chosen})


@st.composite
def hostile_commits(draw: st.DrawFn, marked: str) -> tuple[Action, ...]:
    """An append with its files changed, twice, or with what has no place in it."""
    others = st.one_of(
        st.builds(AppTransaction, app_id=APPS, version=NUMBERS),
        st.builds(RemoveFile, path=st.sampled_from(LIVE).flatmap(_spellings), data_change=st.booleans()),
    )
    adds = draw(st.lists(hostile_adds(marked), min_size=1, max_size=4))
    return (*draw(st.lists(others, max_size=2)), *adds)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_who_may_only_append_changes_nothing_that_was_there(scene: Scene, data: st.DataObject) -> None:
    txn_id = f"eve {next(_COUNT)}"
    marked = fresh_file_names.transaction_prefix(scene.table_id, TxnId(txn_id))
    actions = data.draw(hostile_commits(marked))
    files, owned = scene.files(), scene.txns()["the owner's"]

    try:
        scene.propose(scene.eve, txn_id, *actions)
    except HeadgateError:
        assert scene.files() == files

    assert files <= scene.files()
    assert scene.txns()["the owner's"] == owned
