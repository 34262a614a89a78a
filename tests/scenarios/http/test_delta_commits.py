"""Commits through the Delta API: versions, replays, conflicts, gaps, and what is reported as published."""

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import CommitInfo, EpochMillis, TxnId
from headgate.protocol.log import codec
from tests.support import delta_api
from tests.support.delta_api import (
    INVALID,
    NOT_MET,
    TAKEN,
    DeltaApi,
    DeltaTable,
    backfill,
    error_of,
    file_path,
    now_ms,
    publish_file,
    published,
    stage_file,
)


def test_a_new_table_is_at_version_0_and_has_no_commits(table: DeltaTable) -> None:
    loaded = table.load()

    assert loaded["latest-table-version"] == 0
    assert loaded["commits"] == []


def test_a_commit_is_listed_as_it_was_staged(table: DeltaTable) -> None:
    staged = table.commit(1)

    loaded = table.load()

    assert loaded["latest-table-version"] == 1
    (listed,) = loaded["commits"]
    assert listed["file-name"] == staged.file_name
    assert listed["version"] == 1
    assert listed["timestamp"] == staged.stamp
    assert listed["file-size"] == len(staged.content)
    assert listed["file-modification-timestamp"] > 0


def test_commits_are_listed_newest_first_and_without_gaps(table: DeltaTable) -> None:
    for version in range(1, 5):
        table.commit(version)

    assert [commit["version"] for commit in table.load()["commits"]] == [4, 3, 2, 1]


def test_the_answer_to_a_commit_is_the_table_after_it(table: DeltaTable) -> None:
    table.commit(1)
    answered = table.update(stage_file(table.location, 2).update)

    assert answered.json() == table.load()


@pytest.mark.parametrize("later", [0, 1, 3])
def test_a_repeated_commit_changes_nothing(table: DeltaTable, later: int) -> None:
    staged = table.commit(1)
    for version in range(2, 2 + later):
        table.commit(version)
    before = table.load()

    answered = table.update(staged.update)

    assert answered.status_code == 200
    assert answered.json() == before == table.load()


def test_a_repeated_commit_is_known_after_its_file_is_published_and_deleted(table: DeltaTable) -> None:
    staged = table.commit(1)
    publish_file(table.location, staged)
    table.commit(2, backfilled=1)
    (file_path(table.location) / "_delta_log/_staged_commits" / staged.file_name).unlink()
    published(table.location, 1).unlink()

    assert table.update(staged.update).status_code == 200


def test_a_repeated_commit_ignores_all_else_in_the_request(table: DeltaTable) -> None:
    staged = table.commit(1)

    answered = table.update(
        staged.update,
        backfill(99),
        {"action": "set-properties", "updates": {"said.by": "nobody"}},
        etag="stale",
    )

    assert answered.status_code == 200
    assert "said.by" not in answered.json()["metadata"]["properties"]


def test_a_real_commit_with_a_stale_etag_is_refused(table: DeltaTable) -> None:
    answered = table.update(stage_file(table.location, 1).update, etag="stale")

    assert error_of(answered) == NOT_MET
    assert table.load()["latest-table-version"] == 0


def test_the_etag_of_the_table_is_accepted(table: DeltaTable) -> None:
    etag = table.load()["metadata"]["etag"]

    assert table.update(stage_file(table.location, 1).update, etag=etag).status_code == 200
    assert table.update(stage_file(table.location, 2).update, etag=etag).status_code == 200


def test_the_same_version_from_another_file_is_a_conflict_that_names_the_winners(table: DeltaTable) -> None:
    winner = table.commit(1)
    table.commit(2)

    answered = table.update(stage_file(table.location, 1).update)

    assert error_of(answered) == TAKEN
    error = answered.json()["error"]
    assert error["latest-table-version"] == 2
    assert [commit["version"] for commit in error["winning-commits"]] == [1, 2]
    assert error["winning-commits"][0]["file-name"] == winner.file_name


def test_a_version_cannot_be_skipped(table: DeltaTable) -> None:
    assert error_of(table.update(stage_file(table.location, 2).update)) == INVALID
    table.commit(1)
    assert error_of(table.update(stage_file(table.location, 3).update)) == INVALID


def test_a_staged_file_must_be_there(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1)
    (file_path(table.location) / "_delta_log/_staged_commits" / staged.file_name).unlink()

    assert error_of(table.update(staged.update)) == INVALID


@pytest.mark.parametrize(
    "file_name",
    [
        "../00000000000000000001.json",
        "..",
        "00000000000000000002.11111111-1111-1111-1111-111111111111.json",
        "00000000000000000001.json",
        "a\\b.json",
        "",
    ],
)
def test_a_file_name_is_that_of_a_staged_commit_of_the_version(table: DeltaTable, file_name: str) -> None:
    commit = {**stage_file(table.location, 1).body, "file-name": file_name}

    assert error_of(table.update({"action": "add-commit", "commit": commit})) == INVALID


@pytest.mark.parametrize("part", ["version", "timestamp", "file-size", "file-modification-timestamp"])
@pytest.mark.parametrize("value", [-1, 0, None, 2**63, "many"])
def test_the_numbers_of_a_commit_are_positive(table: DeltaTable, part: str, value: object) -> None:
    commit = {**stage_file(table.location, 1).body, part: value}

    assert error_of(table.update({"action": "add-commit", "commit": commit})) == INVALID
    assert table.load()["latest-table-version"] == 0


def test_a_link_is_not_followed(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1)
    path = file_path(table.location) / "_delta_log/_staged_commits" / staged.file_name
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))

    assert error_of(table.update(staged.update)) == INVALID


def test_a_file_that_names_no_transaction_is_one_by_its_name(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1, txn_id=None)

    assert table.update(staged.update).status_code == 200
    assert table.update(staged.update).status_code == 200
    assert table.load()["latest-table-version"] == 1
    assert error_of(table.update(stage_file(table.location, 1, txn_id=None).update)) == TAKEN


def test_what_is_no_commit_is_refused(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1)
    path = file_path(table.location) / "_delta_log/_staged_commits" / staged.file_name
    for content in (b"", b"not json", b'{"add":{}}\n', b'{"commitInfo":{}}\n', b"\xff\xfe"):
        path.write_bytes(content)
        assert error_of(table.update(staged.update)) == INVALID


def test_a_clock_that_goes_backwards_is_refused(table: DeltaTable) -> None:
    table.commit(1)
    early = stage_file(table.location, 2, stamp=now_ms() - 3_600_000)

    assert error_of(table.update(early.update)) == INVALID
    table.commit(2)


def test_a_commit_reports_what_was_published_before_it(table: DeltaTable) -> None:
    first = table.commit(1, backfilled=0)
    publish_file(table.location, first)

    table.commit(2, backfilled=1)

    assert [commit["version"] for commit in table.load()["commits"]] == [2]


def test_the_last_commit_can_be_reported_and_followed(table: DeltaTable) -> None:
    first = table.commit(1)
    publish_file(table.location, first)

    for _ in range(2):
        assert table.update(backfill(1)).status_code == 200
        assert table.load()["commits"] == []
        assert table.load()["latest-table-version"] == 1
    assert table.update(backfill(0)).status_code == 200
    table.commit(2)
    assert [commit["version"] for commit in table.load()["commits"]] == [2]


def test_what_is_not_ratified_cannot_be_published(table: DeltaTable) -> None:
    table.commit(1)

    assert error_of(table.update(backfill(2))) == INVALID
    assert error_of(table.update(stage_file(table.location, 2).update, backfill(2))) == INVALID
    assert table.load()["latest-table-version"] == 1


def test_a_report_is_not_believed_until_the_file_is_there(table: DeltaTable) -> None:
    first = table.commit(1)

    assert error_of(table.update(backfill(1))) == INVALID
    published(table.location, 1).write_bytes(b"something else")
    assert table.update(backfill(1)).status_code == 500
    assert [commit["version"] for commit in table.load()["commits"]] == [1]

    published(table.location, 1).unlink()
    publish_file(table.location, first)
    assert table.update(backfill(1)).status_code == 200


def test_a_commit_is_made_although_its_report_is_wrong(table: DeltaTable) -> None:
    table.commit(1)

    table.commit(2, backfilled=1)

    assert [commit["version"] for commit in table.load()["commits"]] == [2, 1]


def test_the_update_of_another_table_is_refused(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1)

    assert error_of(table.update(staged.update, uuid="11111111-1111-1111-1111-111111111111")) == NOT_MET
    assert table.update(staged.update, uuid=table.uuid.upper()).status_code == 200


def test_shapes_that_are_refused(table: DeltaTable) -> None:
    staged = stage_file(table.location, 1).update
    uuid = {"type": "assert-table-uuid", "uuid": table.uuid}
    for body in (
        {"requirements": [uuid], "updates": []},
        {"requirements": [], "updates": [staged]},
        {"requirements": [{"type": "assert-etag", "etag": "x"}], "updates": [staged]},
        {"requirements": [uuid, uuid], "updates": [staged]},
        {"requirements": [uuid], "updates": [staged, staged]},
        {"requirements": [uuid], "updates": [backfill(0), backfill(0)]},
        {"requirements": [uuid], "updates": [{"action": "add-commit"}]},
        {"requirements": [uuid], "updates": [{"action": "set-everything"}]},
        {"requirements": [{"type": "assert-nothing"}], "updates": [staged]},
        {"requirements": [uuid], "updates": None},
        {"requirements": [uuid]},
        [],
        "updates",
        None,
    ):
        assert error_of(table.api.post(table.path, body)) == INVALID, body
    assert table.load()["latest-table-version"] == 0


def test_what_the_catalog_holds_inline_is_published_before_it_is_told(
    table: DeltaTable, catalog: Catalog
) -> None:
    staged = table.commit(1)
    content = delta_api.commit_content(now_ms() + 2, txn_id="inline")
    answered = table.update(
        {"action": "add-commit", "commit": {"version": 2, "timestamp": 1, "content": content.decode()}}
    )
    assert answered.status_code == 200
    assert catalog.tail(TableId(table.uuid)).published == 0
    table.commit(3)  # whose answer is for somebody who knows files only

    loaded = table.load()

    assert loaded["latest-table-version"] == 3
    assert [commit["version"] for commit in loaded["commits"]] == [3]
    assert published(table.location, 1).read_bytes() == staged.content
    assert published(table.location, 2).read_bytes() == content


def test_who_can_read_inline_commits_gets_them(table: DeltaTable, catalog: Catalog) -> None:
    content = delta_api.commit_content(now_ms() + 2, txn_id="inline").decode()
    commit = {"version": 1, "timestamp": 1, "content": content}
    for _ in range(2):
        answered = table.update({"action": "add-commit", "commit": commit})
        assert answered.status_code == 200, answered.text

    (listed,) = table.load(**{"inline-commits": "true"})["commits"]

    assert listed["content"] == content
    assert catalog.tail(TableId(table.uuid)).published == 0


def test_garbage_in_the_place_of_an_inline_version_does_not_stop_readers(table: DeltaTable) -> None:
    content = delta_api.commit_content(now_ms() + 1, txn_id="inline").decode()
    commit = {"version": 1, "timestamp": 1, "content": content}
    assert table.update({"action": "add-commit", "commit": commit}).status_code == 200
    published(table.location, 1).write_bytes(b"garbage")

    (listed,) = table.load()["commits"]

    copied = file_path(table.location) / "_delta_log/_staged_commits" / listed["file-name"]
    assert copied.read_text() == content
    assert listed["file-size"] == len(content)
    assert table.load()["commits"] == [listed]
    assert published(table.location, 1).read_bytes() == b"garbage"
    published(table.location, 1).unlink()
    assert table.load()["commits"] == []
    assert published(table.location, 1).read_text() == content


def test_a_refused_commit_says_why(table: DeltaTable) -> None:
    info = CommitInfo(in_commit_timestamp=EpochMillis(now_ms() + 5), txn_id=TxnId("x"))
    content = codec.encode((info, info))
    answered = table.update(
        {"action": "add-commit", "commit": {"version": 1, "timestamp": 1, "content": content.decode()}}
    )

    assert error_of(answered) == INVALID
    assert "commitInfo must be the first action" in answered.json()["error"]["message"]


def test_two_clients_that_commit_in_turns_see_each_other(table: DeltaTable, api: DeltaApi) -> None:
    other = DeltaTable(DeltaApi(api.url), table.name, table.uuid, table.location)
    for version in range(1, 7):
        writer, reader = (table, other) if version % 2 else (other, table)
        writer.commit(version)
        assert reader.load()["latest-table-version"] == version
