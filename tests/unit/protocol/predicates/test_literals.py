"""What a literal says, in one way only or not at all."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from headgate.protocol.predicates import literals
from headgate.protocol.predicates.tree import Value

BERLIN = ZoneInfo("Europe/Berlin")
EAST, WEST = (timezone(timedelta(hours=hours)) for hours in (2, -2))
NOON = datetime(2024, 2, 29, 12)
FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)


@pytest.mark.parametrize(
    ("literal", "kind"),
    [
        (True, "boolean"),
        (1, "exact"),
        (Decimal("1.5"), "exact"),
        (1.5, "double"),
        ("x", "text"),
        (NOON.replace(tzinfo=UTC), "instant"),
        (NOON, "wall"),
        (date(2024, 2, 29), "day"),
    ],
)
def test_literals_of_one_kind_compare_alike(literal: Value, kind: str) -> None:
    assert literals.literal_kind(literal) == kind


@pytest.mark.parametrize(
    ("name", "minutes"),
    [
        *((name, 0) for name in ("UTC", "gmt", "Z", "Etc/UTC", "+0", "-00:00")),
        ("+2", 120),
        ("+02:00", 120),
        ("-05:30", -330),
        ("UTC+3", 180),
        ("GMT-0330", -210),
    ],
)
def test_zones_that_are_a_fixed_offset(name: str, minutes: int) -> None:
    found = literals.parse_time_zone(name)

    assert isinstance(found, timezone)
    assert found.utcoffset(None) == timedelta(minutes=minutes)


def test_zones_by_name_and_none_where_there_is_none() -> None:
    assert literals.parse_time_zone("Europe/Berlin") == BERLIN
    assert [literals.parse_time_zone(name) for name in ("Nowhere/None", "", "../x", "Europe", "+2:3:4")] == [
        None
    ] * 5


@pytest.mark.parametrize(
    ("text", "session", "moment"),
    [
        ("2024-02-29", UTC, datetime(2024, 2, 29)),
        ("2024-02-29 12:00:00", UTC, NOON),
        ("2024-02-29T12:00:00.5", UTC, NOON.replace(microsecond=500_000)),
        ("2024-02-29 12:00:00", BERLIN, NOON.replace(hour=11)),
        ("2024-02-29 12:00:00Z", None, NOON),
        ("2024-02-29 12:00:00UTC", BERLIN, NOON),
        ("2024-02-29T12:00:00-02:00", None, NOON.replace(hour=14)),
        ("2024-02-29 12:00:00-18:00", UTC, datetime(2024, 3, 1, 6)),
        ("2024-02-29 12:00:00+17:59", UTC, datetime(2024, 2, 28, 18, 1)),
        *((f"2024-02-29 12:00:00{offset}", UTC, None) for offset in ("+18:01", "-19:00", "+02:60", "+23:59")),
        ("2024-02-29 12:00:00", None, None),
        ("2024-02-30", UTC, None),
        ("2024-02-29 12:00", UTC, None),
        ("2024-02-29 12:00:00.1234567", UTC, None),
        ("24-02-29", UTC, None),
        (" 2024-02-29", UTC, None),
        ("2024-03-31 02:30:00", BERLIN, None),
        ("1900-01-01 00:00:00", BERLIN, datetime(1899, 12, 31, 23)),
        ("1899-12-31 00:00:00", BERLIN, None),
        ("1899-12-31 00:00:00", EAST, datetime(1899, 12, 30, 22)),
        ("0001-01-01 00:00:00", EAST, None),
    ],
)
def test_the_instant_of_a_text(text: str, session: tzinfo | None, moment: datetime | None) -> None:
    found = literals.parse_timestamp(text, session)

    assert (None if found is None else found.astimezone(UTC).replace(tzinfo=None)) == moment
    assert literals.as_timestamp(text, session) == moment


def test_what_the_wall_shows_and_which_day() -> None:
    assert literals.parse_timestamp_ntz("2024-02-29 12:00:00") == NOON
    assert literals.parse_timestamp_ntz("2024-02-29 12:00:00Z") is None
    assert literals.parse_timestamp_ntz("noon") is None
    assert literals.parse_date("2024-02-29") == date(2024, 2, 29)
    assert [literals.parse_date(text) for text in ("2024-02-29 00:00:00", "2024-02-30", "2024-02-29Z")] == [
        None
    ] * 3


@pytest.mark.parametrize(
    ("literal", "session", "instant"),
    [
        (NOON.replace(tzinfo=EAST), None, NOON.replace(hour=10)),
        (NOON, EAST, NOON.replace(hour=10)),
        (NOON, None, None),
        (date(2024, 2, 29), EAST, datetime(2024, 2, 28, 22)),
        (date(2024, 2, 29), None, None),
        (FIRST.replace(tzinfo=EAST), UTC, None),
    ],
)
def test_the_instant_that_a_literal_becomes(
    literal: date, session: tzinfo | None, instant: datetime | None
) -> None:
    assert literals.as_timestamp(literal, session) == instant


@pytest.mark.parametrize(
    ("literal", "session", "wall"),
    [
        ("2024-02-29 12:00:00", None, NOON),
        (NOON, None, NOON),
        (date(2024, 2, 29), None, datetime(2024, 2, 29)),
        (NOON.replace(tzinfo=UTC), EAST, NOON.replace(hour=14)),
        (NOON.replace(tzinfo=UTC), UTC, NOON),
        (NOON.replace(tzinfo=UTC), BERLIN, None),
        (NOON.replace(tzinfo=UTC), None, None),
        (LAST.replace(tzinfo=UTC), EAST, None),
        (FIRST.replace(tzinfo=UTC), WEST, None),
    ],
)
def test_what_the_wall_shows_of_a_literal(
    literal: str | date, session: tzinfo | None, wall: datetime | None
) -> None:
    """Where clocks are put back it shows the same twice, so there nothing is told."""
    assert literals.as_timestamp_ntz(literal, session) == wall
