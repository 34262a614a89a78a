"""What a transaction becomes behind one, two or three winners."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from headgate.errors import (
    ConcurrentAppend,
    ConcurrentTransaction,
    CorruptLog,
    DomainConflict,
    MetadataChanged,
    ProtocolChanged,
    UnsupportedFeature,
)
from headgate.protocol import property_values
from headgate.protocol.actions import Commit, CommitInfo, DomainMetadata, EpochMillis, Protocol
from headgate.protocol.conflicts import rebase
from headgate.protocol.log import replay
from headgate.protocol.log.replay import State
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.protocol.transaction.attempt import Attempt
from tests.support.attempts import BASE, side, table

ENABLING = "set:delta.enableInCommitTimestamps=true"
CLUSTERING = '{"clusteringColumns":[["id"]],"domainName":"delta.clustering"}'


def prepared(words: Sequence[str], state: State, *, now: int = 5_000) -> Attempt:
    return rebase.prepare(side("ours", words, state, now=now).attempt)


def winners(state: State, *sides: Sequence[str], at: int = 6_000) -> list[Commit]:
    """Commits that follow one another from ``state`` on, stamped ``at`` and a millisecond later each."""
    commits: list[Commit] = []
    for number, words in enumerate(sides):
        winner = side(f"winner{number}", words, state, now=at + number)
        commits.append(replace(winner, attempt=rebase.prepare(winner.attempt)).as_winner())
        state = replay.advance(state, commits[-1])
    return commits


@pytest.mark.parametrize("count", [1, 2, 3])
def test_it_comes_behind_all_of_them(count: int) -> None:
    """S256"""
    state = table(["stamped"])
    ours = prepared(["append"], state)

    moved = rebase.rebase(ours, winners(state, *[["append"]] * count))

    assert moved.target == BASE + 1 + count
    assert moved.timestamp == 6_000 + count
    assert moved.actions == ours.actions
    assert moved.read is ours.read


@pytest.mark.parametrize("harmful", [0, 1, 2])
def test_each_of_three_winners_is_checked(harmful: int) -> None:
    """S256"""
    state = table(["partitioned:p"])
    sides = [["append:p=2"], ["append:p=2"], ["append:p=2"]]
    sides[harmful] = ["append:p=1"]

    with pytest.raises(ConcurrentAppend) as caught:
        rebase.rebase(prepared(["reads:p = 1", "append:p=1"], state), winners(state, *sides))

    assert caught.value.fields["winner"] == BASE + 1 + harmful


def test_the_application_of_the_second_winner_counts() -> None:
    state = table()

    with pytest.raises(ConcurrentTransaction, match="'etl' committed its transaction 3"):
        rebase.rebase(prepared(["append", "app:etl=3"], state), winners(state, ["app:etl=2"], ["app:etl=3"]))


def test_what_the_first_winner_allows_the_second_may_still_forbid() -> None:
    """S256: the metadata of the first winner is what the second is compared with."""
    state = table(["tracked"])
    enabled = ["set:delta.enableRowTracking=true"]
    disabled = ["set:delta.enableRowTracking=false"]

    with pytest.raises(MetadataChanged) as caught:
        rebase.rebase(prepared(["append"], state), winners(state, enabled, disabled))

    assert caught.value.fields["winner"] == BASE + 2


@pytest.mark.parametrize("tags", [None, {"acme": "true"}, {"delta.identity.schemaUpdate": "false"}])
def test_metadata_that_nobody_says_moved_an_identity_only_counts(tags: dict[str, str] | None) -> None:
    """S251"""
    state = table()
    changed = winners(state, ["set:acme=1"])[0]
    info = None if tags is None else msgspec.structs.replace(changed.info, tags=tags)

    with pytest.raises(MetadataChanged):
        rebase.rebase(prepared(["append"], state), [replace(changed, info=info)])


def test_rows_written_before_invariants_were_known_are_not_taken_for_checked() -> None:
    before = Protocol(min_reader_version=1, min_writer_version=7, writer_features=("appendOnly",))
    state = replace(table(), protocol=before)

    with pytest.raises(ProtocolChanged, match="invariants"):
        rebase.rebase(prepared(["append"], state), winners(state, ["feature:+invariants"]))


def test_the_partitions_at_the_time_of_reading_count() -> None:
    """A winner that writes its values otherwise is compared by value, not by text."""
    state = table(["partitioned:p"])

    with pytest.raises(ConcurrentAppend):
        rebase.rebase(prepared(["reads:p = 1", "append:p=1"], state), winners(state, ["append:p=01"]))


@pytest.mark.parametrize(("value", "overlaps"), [("1", True), ("2", False)])
def test_partitions_are_found_under_their_physical_names(value: str, overlaps: bool) -> None:
    state = table(["partitioned:p", "set:delta.columnMapping.mode=name"])
    schema = msgspec.json.decode(state.metadata.schema_string)
    for number, column in enumerate(schema["fields"]):
        column["metadata"] = {
            "delta.columnMapping.id": number,
            "delta.columnMapping.physicalName": f"col-{column['name']}",
        }
    mapped = msgspec.structs.replace(state.metadata, schema_string=msgspec.json.encode(schema).decode())
    state = replace(state, metadata=mapped)
    ours = side("ours", ["reads:p = 1", "append:col-p=1"], state).attempt
    winner = side("theirs", [f"append:col-p={value}"], state).as_winner()

    if not overlaps:
        assert rebase.rebase(ours, [winner]).target == BASE + 2
        return
    with pytest.raises(ConcurrentAppend, match="p = 1"):
        rebase.rebase(ours, [winner])


# --- in-commit timestamps


def test_a_clock_that_was_set_back_does_not_turn_the_table_back() -> None:
    """S156, S157"""
    state = table(["stamped"])
    ours = prepared(["append"], state, now=5)

    assert ours.timestamp == 1_001
    assert rebase.rebase(ours, winners(state, ["append"], at=9_000)).timestamp == 9_001


def test_enabling_says_since_when() -> None:
    """S155"""
    state = table(["feature:inCommitTimestamp"])
    asked = side("ours", [ENABLING], state, now=50).attempt

    metadata = rebase.prepare(asked, file_time=EpochMillis(70)).metadata

    assert metadata.configuration[ENABLEMENT_VERSION] == str(BASE + 1)
    assert metadata.configuration[ENABLEMENT_TIMESTAMP] == "71"


@pytest.mark.parametrize("count", [1, 2])
def test_an_enabling_commit_that_loses_says_since_when_it_really_was(count: int) -> None:
    """S158, I8"""
    state = table(["feature:inCommitTimestamp"])
    lost = [
        replace(winner, modified_ms=EpochMillis(8_000 + number))
        for number, winner in enumerate(winners(state, *[["append"]] * count))
    ]

    moved = rebase.rebase(prepared([ENABLING], state), lost)

    assert moved.metadata.configuration[ENABLEMENT_VERSION] == str(moved.target) == str(BASE + 1 + count)
    assert moved.metadata.configuration[ENABLEMENT_TIMESTAMP] == str(moved.timestamp) == str(8_000 + count)


@pytest.mark.parametrize(("now", "stamp"), [(5_000, 6_001), (9_000, 9_000)])
def test_a_write_that_loses_to_the_enabling_commit_is_stamped(now: int, stamp: int) -> None:
    """S160, I8"""
    state = table(["feature:inCommitTimestamp"])
    ours = prepared(["append"], state, now=now)
    assert not ours.has_in_commit_timestamp

    moved = rebase.rebase(ours, winners(state, [ENABLING]))

    assert moved.has_in_commit_timestamp
    assert moved.timestamp == stamp


def test_keeping_timestamps_keeps_since_when() -> None:
    """I8: whatever the writer put there."""
    since = [f"set:{ENABLEMENT_VERSION}=3", f"set:{ENABLEMENT_TIMESTAMP}=300"]
    state = table(["stamped", *since])
    ours = prepared([f"unset:{ENABLEMENT_VERSION}", f"set:{ENABLEMENT_TIMESTAMP}=9"], state)

    kept = rebase.rebase(ours, winners(state, ["append"])).metadata.configuration

    assert (kept[ENABLEMENT_VERSION], kept[ENABLEMENT_TIMESTAMP]) == ("3", "300")


def test_disabling_timestamps_takes_since_when_back() -> None:
    """I8"""
    state = table(["stamped", f"set:{ENABLEMENT_VERSION}=3", f"set:{ENABLEMENT_TIMESTAMP}=300"])

    left = prepared(["set:delta.enableInCommitTimestamps=false"], state).metadata.configuration

    assert ENABLEMENT_VERSION not in left
    assert ENABLEMENT_TIMESTAMP not in left


def test_a_winner_without_the_timestamp_its_table_promises_is_an_error() -> None:
    """I8"""
    state = table(["stamped"])
    (winner,) = winners(state, ["append"])
    silent = replace(
        winner, info=winner.info and msgspec.structs.replace(winner.info, in_commit_timestamp=None)
    )

    with pytest.raises(CorruptLog) as caught:
        rebase.rebase(prepared(["append"], state), [silent])

    assert caught.value.code == "DELTA_MISSING_COMMIT_TIMESTAMP"


# --- domains


def summed(base: DomainMetadata | None, winner: DomainMetadata, mine: DomainMetadata) -> DomainMetadata:
    total = int(winner.configuration) + int(mine.configuration) - int(base.configuration if base else 0)
    return msgspec.structs.replace(mine, configuration=str(total))


def test_a_handler_folds_over_the_winners_and_nothing_else() -> None:
    """S198: it is asked for each winner that wrote the domain, with its own last answer."""
    state = table(["feature:domainMetadata"])
    ours = side("ours", ["domain:n=1"], state, handlers={"n": summed}).attempt
    lost = winners(state, ["domain:n=10"], ["append"], ["domain:n=30"])

    moved = rebase.rebase(rebase.prepare(ours), lost)

    assert [domain.configuration for domain in moved.writes.domains] == ["31"]


@pytest.mark.parametrize("shared", [0, 1, 2])
def test_a_domain_shared_with_any_winner_conflicts_without_a_handler(shared: int) -> None:
    """S198"""
    state = table(["feature:domainMetadata"])
    sides = [["domain:x=1"], ["domain:y=1"], ["domain:z=1"]]
    sides[shared] = ["domain:n=1"]

    with pytest.raises(DomainConflict) as caught:
        rebase.rebase(prepared(["domain:n=2"], state), winners(state, *sides))

    assert caught.value.fields["winner"] == BASE + 1 + shared
    assert f"version {BASE + 1 + shared}" in caught.value.message


@pytest.mark.parametrize(
    "operation",
    [f"{verb} TABLE{rows}" for verb in ("REPLACE", "CREATE OR REPLACE") for rows in ("", " AS SELECT")],
)
def test_a_replaced_table_loses_the_clustering_that_a_winner_gave_it(operation: str) -> None:
    """P30"""
    state = table(["feature:domainMetadata"])
    ours = rebase.prepare(side("ours", [f"operation:{operation}", "append"], state).attempt)

    moved = rebase.rebase(ours, winners(state, [f"domain:delta.clustering={CLUSTERING}"]))

    (domain,) = moved.writes.domains
    assert msgspec.json.decode(domain.configuration)["clusteringColumns"] == []


def test_an_ordinary_write_leaves_the_domains_of_a_winner_alone() -> None:
    state = table(["feature:domainMetadata"])

    clustered = winners(state, [f"domain:delta.clustering={CLUSTERING}"])

    moved = rebase.rebase(prepared(["append", "domain:n=1"], state), clustered)

    assert [(found.domain, found.configuration) for found in moved.writes.domains] == [("n", "1")]


def test_domains_of_a_winner_whose_table_has_none_do_not_count() -> None:
    state = table()
    written = DomainMetadata(domain="delta.clustering", configuration=CLUSTERING, removed=False)
    broken = replace(winners(state, ["append"])[0], domains=(written,))

    moved = rebase.rebase(prepared(["operation:REPLACE TABLE", "append"], state), [broken])

    assert moved.writes.domains == ()


def test_a_conflict_keeps_the_code_its_handler_failed_with() -> None:
    state = table(["feature:domainMetadata"])
    ours = side("ours", ["domain:n=1"], state, handlers={"n": lambda *_: None}).attempt  # type: ignore[dict-item, return-value]

    with pytest.raises(DomainConflict) as caught:
        rebase.rebase(rebase.prepare(ours), winners(state, ["domain:n=2"]))

    assert caught.value.code == "HEADGATE_DOMAIN_HANDLER_FAILED"


# --- what cannot be written


def test_metadata_that_headgate_cannot_write_is_not_adopted() -> None:
    state = table()
    identity = side("theirs", ["set:delta.enableDeletionVectors=true", "identity"], state).as_winner()

    with pytest.raises(UnsupportedFeature):
        rebase.rebase(prepared(["append"], state), [identity])


@pytest.mark.parametrize("info", [None, CommitInfo()], ids=["nothing", "no-operation"])
def test_a_winner_that_says_nothing_of_itself_counts_as_any_other(info: CommitInfo | None) -> None:
    state = table()
    silent = replace(winners(state, ["append"])[0], info=info)

    with pytest.raises(ConcurrentAppend) as caught:
        rebase.rebase(prepared(["reads-all", "append"], state), [silent])

    assert caught.value.fields["winner_operation"] == "an unnamed operation"


# --- what a rebase leaves as it is


def test_an_adopted_change_that_is_not_row_tracking_says_nothing_of_row_ids() -> None:
    state = table(["tracked", "feature:deletionVectors"])
    enabled = winners(state, ["set:delta.enableDeletionVectors=true"])

    assert rebase.rebase(prepared(["append"], state), enabled).tags == {}


def test_tags_are_kept_beside_that_of_row_tracking() -> None:
    state = table(["tracked"])
    ours = replace(prepared(["append"], state), tags={"acme": "1"})

    moved = rebase.rebase(ours, winners(state, ["set:delta.enableRowTracking=true"]))

    assert moved.tags == {"acme": "1", **rebase.ROW_IDS_NOT_PRESERVED}


def test_where_commits_are_not_stamped_the_writers_clock_counts() -> None:
    state = table()
    later = [replace(found, modified_ms=EpochMillis(9_000)) for found in winners(state, ["append"])]

    assert rebase.rebase(prepared(["append"], state), later).timestamp == 5_000


# --- what depends on the version


@pytest.mark.parametrize(
    ("feature", "count", "dated"),
    [
        ("typeWidening-preview", 1, BASE + 2),
        ("typeWidening-preview", 2, BASE + 3),
        ("typeWidening", 2, BASE + 1),
    ],
)
def test_type_changes_of_the_preview_move_with_the_version(feature: str, count: int, dated: int) -> None:
    state = table([f"feature:{feature}"])
    schema = (
        '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{"delta.typeChanges":'
        f'[{{"fromType":"short","toType":"integer","tableVersion":2}},'
        f'{{"fromType":"integer","toType":"long","tableVersion":{BASE + 1}}}]}}}}]}}'
    )
    ours = side("ours", ["metadata"], state).attempt
    ours = ours.with_metadata(msgspec.structs.replace(ours.metadata, schema_string=schema))

    moved = rebase.rebase(ours, winners(table(), *[["append"]] * count))

    (column,) = msgspec.json.decode(moved.metadata.schema_string)["fields"]
    assert [change["tableVersion"] for change in column["metadata"]["delta.typeChanges"]] == [2, dated]


def test_a_write_without_metadata_has_no_type_changes_to_move() -> None:
    state = table(["feature:typeWidening-preview"])

    assert rebase.rebase(prepared(["append"], state), winners(state, ["append"])).target == BASE + 2


@pytest.mark.parametrize(
    ("written", "count", "left"), [(BASE + 1, 1, BASE + 2), (BASE + 1, 2, BASE + 3), (2, 2, 2)]
)
def test_the_protection_of_checkpoints_moves_with_the_version(written: int, count: int, left: int) -> None:
    state = table(["set:acme=1"])
    ours = prepared(["append", f"set:{property_values.PROTECTED_BEFORE}={written}"], state)

    moved = rebase.rebase(ours, winners(state, *[["append"]] * count))

    assert moved.metadata.configuration == {"acme": "1", property_values.PROTECTED_BEFORE: str(left)}
    assert moved.writes.adds == ours.writes.adds
