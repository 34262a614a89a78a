"""What is refused before it is proposed: every check, broken and kept."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import Action, AppTransaction, DomainMetadata, Metadata, RemoveFile
from headgate.protocol.conflicts import preconditions, rebase
from headgate.protocol.conflicts.preconditions import PRECONDITIONS
from headgate.protocol.domains import rules
from headgate.protocol.log.replay import State
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.transaction.attempt import CLONE, RESTORE, Attempt
from tests.support.attempts import added, side, table, with_vector

STATE = table()
BY_P = table(["partitioned:p"])


def by_day(**keys: Any) -> State:
    """A table that is partitioned by a date, which has these keys."""
    schema = Struct((Field("x", Primitive("long")), Field("day", Primitive("date"), metadata=keys)))
    mode = {"delta.columnMapping.mode": "name"} if keys else {}
    return replace(
        BY_P,
        protocol=protocol_upgrade.with_features(BY_P.protocol, ("columnMapping",)),
        metadata=msgspec.structs.replace(
            BY_P.metadata,
            schema_string=schema_json.render(schema),
            partition_columns=("day",),
            configuration={**BY_P.metadata.configuration, **mode},
        ),
    )


BY_DAY = by_day()
BY_DAY_MAPPED = by_day(**{"delta.columnMapping.id": 7, "delta.columnMapping.physicalName": "col-7"})
APPEND_ONLY = table(["set:delta.appendOnly=true"])
HOSTILE = replace(
    STATE,
    protocol=protocol_upgrade.with_features(STATE.protocol, ("checkConstraints",)),
    metadata=msgspec.structs.replace(
        STATE.metadata, configuration={**STATE.metadata.configuration, "delta.constraints.c": "f(1) > 0"}
    ),
)
RELAXED = table(["set:delta.isolationLevel=WriteSerializable"])
TAKEN = table(
    [
        "feature:coordinatedCommits-preview", "set:delta.coordinatedCommits.commitCoordinator-preview=one",
        "set:delta.coordinatedCommits.tableConf-preview={}", "stamped",
    ]
)  # fmt: skip
TAKEN_TWICE = replace(TAKEN, protocol=protocol_upgrade.with_features(TAKEN.protocol, ("catalogManaged",)))
RELEASED = table(["feature:coordinatedCommits-preview", "stamped"])
FORGOTTEN = table(["set:delta.managedCommit.commitOwner-preview=one", "stamped"])
VECTORS = table(["set:delta.enableDeletionVectors=true"])
A, B = added("a", {}), added("b", {})
GONE = RemoveFile(path="a", data_change=True)
MARKED = with_vector(A, "v")
TIGHT = msgspec.structs.replace(MARKED, stats='{"numRecords":1}')
UNCOUNTED = msgspec.structs.replace(MARKED, stats='{"tightBounds":false}')
REARRANGED = msgspec.structs.replace(GONE, data_change=False)
QUIETLY_MARKED = msgspec.structs.replace(MARKED, data_change=False)
OTHER_METADATA = msgspec.structs.replace(STATE.metadata, name="other")


def with_properties(state: State, **values: str) -> Metadata:
    """The metadata with these properties of a coordinator (S128, S129)."""
    said = {f"delta.coordinatedCommits.{name}-preview": value for name, value in values.items()}
    return msgspec.structs.replace(state.metadata, configuration={**state.metadata.configuration, **said})


def without_stamps(state: State) -> Metadata:
    """The metadata without in-commit timestamps."""
    kept = {key: value for key, value in state.metadata.configuration.items() if "Timestamp" not in key}
    return msgspec.structs.replace(state.metadata, configuration=kept)


BROKEN: dict[str, list[tuple[State, tuple[Action, ...]]]] = {
    "one-protocol-one-metadata": [
        (STATE, (STATE.metadata, OTHER_METADATA)),
        (STATE, (STATE.protocol, STATE.protocol)),
    ],
    "files-once": [
        (STATE, (A, B, A)),
        (STATE, (GONE, GONE)),
        (STATE, (GONE, A)),
        (VECTORS, (GONE, MARKED, with_vector(A, "w"))),
        (VECTORS, (msgspec.structs.replace(GONE, deletion_vector=MARKED.deletion_vector), MARKED)),
    ],
    "partition-values": [
        (STATE, (added("a", {"p": "1"}),)),
        (BY_P, (A,)),
        (BY_P, (added("a", {"q": "1"}),)),
        (BY_P, (added("a", {"p": "1"}), added("b", {"p": "1", "q": "1"}))),
    ],
    "partition-types": [
        (BY_DAY, (added("a", {"day": "yesterday"}),)),
        (BY_DAY, (added("a", {"day": "2026-01-31"}), added("b", {"day": "2026-02-31"}))),
        (BY_DAY_MAPPED, (added("a", {"col-7": "1"}),)),
    ],
    "append-only": [(APPEND_ONLY, (GONE,))],
    "applications-once": [
        (STATE, (AppTransaction(app_id="x", version=1), AppTransaction(app_id="x", version=2)))
    ],
    "vectors-counted": [(VECTORS, (UNCOUNTED, GONE))],
    "vectors-enabled": [(STATE, (MARKED, GONE)), (STATE, (MARKED,)), (STATE, (QUIETLY_MARKED, REARRANGED))],
    "vectors-wide-bounds": [(VECTORS, (TIGHT, GONE))],
    "isolation-level": [(STATE, (RELAXED.metadata,))],
    "stored-expressions": [(STATE, (HOSTILE.protocol, HOSTILE.metadata))],
    "coordinator": [
        (TAKEN, (with_properties(TAKEN, commitCoordinator="two"),)),
        (TAKEN, (with_properties(TAKEN, commitCoordinatorConf='{"a":"b"}'),)),
        (RELEASED, (with_properties(RELEASED, commitCoordinator="one"),)),
    ],
    "coordinator-feature": [(FORGOTTEN, (A,)), (TAKEN_TWICE, (A,))],
    "coordinator-named": [(STATE, (RELEASED.protocol,))],
    "coordinator-timestamps": [(TAKEN, (without_stamps(TAKEN),))],
}
KEPT: dict[str, tuple[State, tuple[Action, ...]]] = {
    "one-protocol-one-metadata": (STATE, (STATE.metadata, STATE.protocol)),
    "files-once": (VECTORS, (GONE, MARKED, B)),
    "partition-values": (BY_P, (added("a", {"p": None}),)),
    "partition-types": (
        BY_DAY,
        tuple(added(f"{n}", {"day": day}) for n, day in enumerate(["2026-01-31", None, ""])),
    ),
    "append-only": (APPEND_ONLY, (REARRANGED, B)),
    "applications-once": (
        STATE,
        (AppTransaction(app_id="x", version=1), AppTransaction(app_id="y", version=2)),
    ),
    "vectors-counted": (VECTORS, (MARKED, GONE)),
    "vectors-enabled": (STATE, (msgspec.structs.replace(MARKED, data_change=False),)),
    "vectors-wide-bounds": (VECTORS, (msgspec.structs.replace(TIGHT, data_change=False),)),
    "isolation-level": (RELAXED, (msgspec.structs.replace(RELAXED.metadata, name="other"),)),
    "stored-expressions": (HOSTILE, (msgspec.structs.replace(HOSTILE.metadata, name="other"),)),
    "coordinator": (RELEASED, (with_properties(RELEASED, commitCoordinator="one", tableConf="{}"),)),
    "coordinator-feature": (TAKEN, (A,)),
    "coordinator-named": (RELEASED, (A,)),
    "coordinator-timestamps": (RELEASED, (RELEASED.metadata,)),
}


def attempt(state: State, actions: tuple[Action, ...]) -> Attempt:
    return side("ours", [], state).attempt.with_actions(actions)


def test_every_check_has_examples() -> None:
    assert [row.name for row in PRECONDITIONS] == list(BROKEN) == list(KEPT)


@pytest.mark.parametrize(
    ("name", "state", "actions"), [(name, *found) for name, each in BROKEN.items() for found in each]
)
def test_what_breaks_a_rule_is_refused_before_the_first_attempt(
    name: str, state: State, actions: tuple[Action, ...]
) -> None:
    """S238, S241, S252, S253, S254, S255, S262"""
    with pytest.raises(InvalidRequest) as caught:
        rebase.prepare(attempt(state, actions))

    assert caught.value.fields["check"] == name
    assert caught.value.code == next(row.code for row in PRECONDITIONS if row.name == name)
    assert caught.value.sqlstate is not None
    assert "nothing was committed" in caught.value.message


@pytest.mark.parametrize(
    ("actions", "told"),
    [
        ((A, B, A), "a is added twice;"),
        ((GONE, GONE), "a is removed twice;"),
        ((MARKED, with_vector(A, "w")), "a is added with two deletion vectors,"),
        ((GONE, A), "a is both added and removed,"),
    ],
)
def test_a_file_that_comes_twice_is_named(actions: tuple[Action, ...], told: str) -> None:
    with pytest.raises(InvalidRequest, match=f"cannot be committed: {told}"):
        rebase.prepare(attempt(VECTORS, actions))


@pytest.mark.parametrize("name", KEPT)
def test_what_keeps_a_rule_is_not(name: str) -> None:
    state, actions = KEPT[name]

    assert rebase.prepare(attempt(state, actions)).actions == actions


def test_the_same_transaction_of_an_application_counts_once() -> None:
    """S241"""
    once = AppTransaction(app_id="x", version=1)

    assert rebase.prepare(attempt(STATE, (once, A, once))).actions == (once, A)


@pytest.mark.parametrize("operation", [CLONE, RESTORE])
def test_vectors_that_were_there_before_come_back(operation: str) -> None:
    """In a table, or a version of it, that allowed them."""
    again = replace(attempt(STATE, (TIGHT,)), operation=operation)

    assert rebase.prepare(again).actions == (TIGHT,)


def test_domains_are_checked_too() -> None:
    """S193"""
    domain = DomainMetadata(domain="a", configuration="", removed=False)

    with pytest.raises(InvalidRequest) as caught:
        preconditions.check_preconditions(attempt(STATE, (domain,)))
    assert caught.value.code == "DELTA_DOMAIN_METADATA_NOT_SUPPORTED"
    with pytest.raises(InvalidRequest) as caught:
        preconditions.check_preconditions(attempt(table(["feature:domainMetadata"]), (domain, domain)))
    assert caught.value.code == "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR"


def test_keys_of_delta_itself_are_refused_unless_their_domain_goes() -> None:
    live = DomainMetadata(domain="a", configuration='{"delta.x":"1"}', removed=False)
    state = table(["feature:domainMetadata"])

    with pytest.raises(InvalidRequest) as caught:
        preconditions.check_preconditions(attempt(state, (live,)))
    assert caught.value.code == "HEADGATE_DOMAIN_RESERVED"
    preconditions.check_preconditions(attempt(state, (rules.domain_tombstone(live),)))


def test_a_rebase_is_checked_like_a_first_attempt() -> None:
    """S255: the winner made the table append-only, under a tag that lets our delete pass the rules."""
    winner = side("theirs", ["set:delta.appendOnly=true", "identity"], STATE).as_winner()

    with pytest.raises(InvalidRequest) as caught:
        rebase.rebase(rebase.prepare(attempt(STATE, (GONE,))), [winner])

    assert caught.value.fields["check"] == "append-only"
