"""What a coordinator may do next with a table: the rules, on paper."""

from dataclasses import replace

import pytest

from headgate.catalog.coordinator import rules
from headgate.catalog.ports.ledger import Registration
from headgate.errors import HeadgateError, InvalidRequest, NotAllowed
from headgate.protocol.actions import Version

PLACE = "/tables/t"
NEW = Registration("t", PLACE, "m", Version(6), Version(6), Version(5), accepting=True, schema_version=1)
USED = replace(NEW, next=Version(8))
RELEASED = replace(USED, accepting=False)


@pytest.mark.parametrize(
    ("record", "latest", "active"), [(NEW, None, False), (USED, 7, True), (RELEASED, 7, False)]
)
def test_a_table_is_the_owners_from_its_first_commit_to_the_release(
    record: Registration, latest: int | None, active: bool
) -> None:
    """S151"""
    assert (record.latest, record.is_active) == (latest, active)


@pytest.mark.parametrize(("current", "first"), [(None, 1), (0, 2), (7, 9)])
def test_the_version_that_names_the_owner_is_not_its_own(current: int | None, first: int) -> None:
    """K11"""
    assert rules.first_coordinated_version(None if current is None else Version(current)) == first


@pytest.mark.parametrize(
    ("location", "normal"),
    [
        ("/tables/t/", "/tables/t"), ("file:///tables/t", "/tables/t"), ("file:/tables/t//", "/tables/t"),
        ("s3://bucket/t/", "s3://bucket/t"),
    ],
)  # fmt: skip
def test_a_table_is_the_same_however_its_place_is_written(location: str, normal: str) -> None:
    """S150"""
    assert rules.normalize_location(location) == normal


@pytest.mark.parametrize(
    ("records", "first", "refused", "code"),
    [
        ([], 1, None, ""),
        ([NEW], 6, None, ""),
        ([NEW], 5, InvalidRequest, "DELTA_CONCURRENT_WRITE"),
        ([RELEASED], 8, None, ""),
        ([RELEASED], 7, InvalidRequest, "DELTA_CONCURRENT_WRITE"),
        ([USED], 8, NotAllowed, NotAllowed.code),
        ([NEW, USED], 8, NotAllowed, NotAllowed.code),
        ([replace(USED, metadata_id="another"), NEW], 6, None, ""),
        ([replace(NEW, metadata_id="another"), USED], 8, NotAllowed, NotAllowed.code),
    ],
)
def test_a_table_is_registered_unless_it_is_owned_or_its_log_is_old(
    records: list[Registration], first: int, refused: type[HeadgateError] | None, code: str
) -> None:
    """S151"""
    if refused is None:
        rules.check_registrable(records, "m", Version(first))
        return
    with pytest.raises(refused) as caught:
        rules.check_registrable(records, "m", Version(first))
    assert caught.value.code == code


def test_a_record_is_that_of_the_table_and_understood() -> None:
    """W12, S150"""
    assert rules.require_registration(USED, "t", PLACE) is USED
    for record, place, words in (
        (None, PLACE, "knows no table 't'"),
        (replace(USED, schema_version=2), PLACE, "schema version 2"),
        (replace(USED, schema_version=0), PLACE, "schema version 0"),
        (USED, "/tables/copy", "and not at '/tables/copy'"),
    ):
        with pytest.raises(InvalidRequest, match=words):
            rules.require_registration(record, "t", place)


@pytest.mark.parametrize(("record", "version"), [(NEW, 6), (USED, 8)])
def test_the_next_version_is_the_one_after_the_latest(record: Registration, version: int) -> None:
    """S057"""
    assert rules.is_next_version(record, Version(version))


@pytest.mark.parametrize("record", [USED, RELEASED])
@pytest.mark.parametrize("version", [6, 7])
def test_a_version_that_is_taken_is_not_the_next(record: Registration, version: int) -> None:
    """S058: not an error, since the one who asks may be the one who has it."""
    assert not rules.is_next_version(record, Version(version))


@pytest.mark.parametrize(
    ("record", "version", "refused", "words"),
    [
        (USED, 0, InvalidRequest, "file system"),
        (USED, 5, InvalidRequest, "next version is 8"),
        (USED, 9, InvalidRequest, "next version is 8"),
        (NEW, 7, InvalidRequest, "next version is 6"),
        (RELEASED, 8, NotAllowed, "released with version 7"),
        (RELEASED, 9, InvalidRequest, "next version is 8"),
    ],
)
def test_what_can_never_be_ratified_is_an_error(
    record: Registration, version: int, refused: type[HeadgateError], words: str
) -> None:
    """S050, S059, S150"""
    with pytest.raises(refused, match=words) as caught:
        rules.is_next_version(record, Version(version))

    if "next version" in words:
        assert caught.value.fields == {"asked": version, "latest": record.next - 1}


def test_what_nobody_ratified_is_not_published() -> None:
    rules.check_ratified(USED, Version(7))

    with pytest.raises(
        InvalidRequest, match="version 8 cannot be published: the latest ratified version is 7"
    ):
        rules.check_ratified(USED, Version(8))
