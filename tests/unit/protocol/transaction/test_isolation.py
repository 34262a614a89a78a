"""The isolation level of a commit: chosen from the property and the actions, and told truthfully."""

import msgspec
import pytest

from headgate.clock import SystemWorld
from headgate.protocol.actions import Action, AddCdcFile, AppTransaction, DomainMetadata, RemoveFile
from headgate.protocol.log.replay import State
from headgate.protocol.transaction import isolation
from headgate.protocol.transaction.isolation import IsolationLevel
from headgate.table import transaction
from headgate.table.transaction import Change, Operation
from tests.support.attempts import added, table

STRICT = table()
RELAXED = table(["set:delta.isolationLevel=WriteSerializable"])
ADD = added("a", {})
TIDY = msgspec.structs.replace(ADD, data_change=False)
TIDIED = RemoveFile(path="b", data_change=False)
MARK = DomainMetadata(domain="delta.rowTracking", configuration="{}", removed=False)
DOMAIN = DomainMetadata(domain="acme", configuration="{}", removed=False)
FEED = AddCdcFile(path="_change_data/a", partition_values={}, size=1)
TXN = AppTransaction(app_id="a", version=1)
SERIAL, WRITES, SNAPSHOT = IsolationLevel


@pytest.mark.parametrize(
    ("actions", "strict", "relaxed", "relaxed_arranging"),
    [
        ((ADD,), SERIAL, WRITES, WRITES),
        ((TIDY, TIDIED), SNAPSHOT, WRITES, SNAPSHOT),
        ((TIDY, MARK), SNAPSHOT, WRITES, SNAPSHOT),
        ((TIDY, FEED), SNAPSHOT, WRITES, SNAPSHOT),
        ((TIDY, ADD), SERIAL, WRITES, WRITES),
        ((TIDY, DOMAIN), SERIAL, WRITES, WRITES),
        ((TXN,), SERIAL, WRITES, WRITES),
        ((STRICT.metadata,), SERIAL, WRITES, WRITES),
        ((STRICT.protocol,), SERIAL, WRITES, WRITES),
        ((), SNAPSHOT, WRITES, SNAPSHOT),
    ],
    ids=[
        "add",
        "tidy",
        "row-ids",
        "tidy-and-feed",
        "tidy-and-add",
        "domain",
        "txn",
        "metadata",
        "protocol",
        "nothing",
    ],
)
def test_the_level_of_a_commit(
    actions: tuple[Action, ...],
    strict: IsolationLevel,
    relaxed: IsolationLevel,
    relaxed_arranging: IsolationLevel,
) -> None:
    for changes_data in (True, False):
        assert isolation.choose_level(STRICT.metadata, actions, changes_data=changes_data) is strict
    assert isolation.choose_level(RELAXED.metadata, actions, changes_data=True) is relaxed
    assert isolation.choose_level(RELAXED.metadata, actions, changes_data=False) is relaxed_arranging


def test_the_commit_says_its_level() -> None:
    change = Change(Operation("OPTIMIZE", changes_data=False), (TIDY, TIDIED))

    for state, level in ((STRICT, "SnapshotIsolation"), (RELAXED, "SnapshotIsolation")):
        info = transaction.begin(state, change, world=SystemWorld()).commit.info
        assert info is not None
        assert info.isolation_level == level
        assert info.is_blind_append is False


@pytest.mark.parametrize(
    ("state", "actions", "skip", "left_out"),
    [
        (STRICT, (), True, True),
        (STRICT, (), False, False),
        (RELAXED, (), True, False),
        (STRICT, (TXN,), True, False),
        (STRICT, (STRICT.metadata,), True, False),
    ],
    ids=["asked", "not-asked", "write-serializable", "txn", "metadata"],
)
def test_an_empty_commit_is_left_out_where_that_is_asked_for(
    state: State, actions: tuple[Action, ...], skip: bool, left_out: bool
) -> None:
    """S218, S259"""
    change = Change(Operation("WRITE"), actions, skip_if_empty=skip)

    assert transaction.begin(state, change, world=SystemWorld()).is_no_op is left_out
