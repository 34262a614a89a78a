"""What the text of a partition value means."""

import time

import pytest

from headgate.errors import CorruptLog, InvalidRequest
from headgate.protocol.schema import partition_values
from headgate.protocol.schema.types import Array, DataType, Primitive


@pytest.mark.parametrize(
    ("type_name", "text", "meaning"),
    [
        ("string", " a/b=c ", " a/b=c "),
        ("binary", "\x01ü", "\x01ü"),
        ("boolean", "TRUE", "true"),
        ("boolean", "False", "false"),
        ("byte", "-128", "-128"),
        ("byte", "127", "127"),
        ("short", "-32768", "-32768"),
        ("short", "32767", "32767"),
        ("integer", "-2147483648", "-2147483648"),
        ("integer", "2147483647", "2147483647"),
        ("long", "-9223372036854775808", "-9223372036854775808"),
        ("long", "9223372036854775807", "9223372036854775807"),
        ("long", "+007", "7"),
        ("double", "1.0E10", "10000000000.0"),
        ("float", "Infinity", "inf"),
        ("decimal(10,2)", "1E+3", "1000.00"),
        ("decimal(10, 3)", "1.5", "1.500"),
        ("decimal(5,1)", "1.500", "1.5"),
        ("decimal(5,1)", "1.55", "1.55"),
        ("decimal(5,0)", "70", "70"),
        ("decimal(38,0)", "12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("decimal(10,2)", "-0.50", "-0.50"),
        ("date", "0001-02-03", "0001-02-03"),
        ("timestamp", "2024-01-31 12:00:00", "2024-01-31 12:00:00Z"),
        ("timestamp", "1960-01-31 12:00:00.123456", "1960-01-31 12:00:00.123456Z"),
        ("timestamp", "2024-01-31T12:00:00.5Z", "2024-01-31 12:00:00.500000Z"),
        ("timestamp", "2024-01-31T12:00:00+02:00", "2024-01-31 10:00:00Z"),
        ("timestamp_ntz", "2024-01-31 12:00:00.000001", "2024-01-31 12:00:00.000001"),
        ("timestamp_ntz", "2024-01-31T12:00:00Z", "2024-01-31 12:00:00"),
    ],
)
def test_text_becomes_a_value_that_casts_alike_everywhere(type_name: str, text: str, meaning: str) -> None:
    assert partition_values.canonical_text(text, Primitive(type_name)) == meaning


def test_a_moment_without_a_zone_is_utc_wherever_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        found = partition_values.canonical_text("2024-01-31 12:00:00", Primitive("timestamp"))
    time.tzset()

    assert found == "2024-01-31 12:00:00Z"


@pytest.mark.parametrize("text", [None, ""])
@pytest.mark.parametrize("type_name", ["string", "long", "date"])
def test_nothing_is_null(type_name: str, text: str | None) -> None:
    assert partition_values.canonical_text(text, Primitive(type_name)) is None


@pytest.mark.parametrize(
    ("data_type", "text"),
    [
        (Primitive("byte"), "128"),
        (Primitive("byte"), "-129"),
        (Primitive("short"), "32768"),
        (Primitive("integer"), "2147483648"),
        (Primitive("long"), "9223372036854775808"),
        (Primitive("timestamp"), "0001-01-01T00:00:00+02:00"),
        (Primitive("integer"), "1.5"),
        (Primitive("boolean"), "yes"),
        (Primitive("boolean"), "1"),
        (Primitive("variant"), "1"),
        (Primitive("double"), "many"),
        (Primitive("decimal(5,2)"), "NaN"),
        (Primitive("decimal(5,2)"), "five"),
        (Primitive("date"), "2024-02-30"),
        (Primitive("timestamp"), "noon"),
        (Array(Primitive("long"), contains_null=True), "1"),
    ],
)
def test_text_that_means_nothing_is_a_broken_log(data_type: DataType, text: str) -> None:
    with pytest.raises(CorruptLog, match="partition value") as caught:
        partition_values.canonical_text(text, data_type)

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"


@pytest.mark.parametrize(
    ("type_name", "text", "written"),
    [
        ("string", "a", "a"),
        ("string", "", None),
        ("long", None, None),
        ("long", "7", "7"),
        ("long", "+007", "7"),
        ("boolean", "TRUE", "true"),
        ("timestamp", "0", "1970-01-01T00:00:00.000000Z"),
        ("timestamp", "-1", "1969-12-31T23:59:59.999999Z"),
        ("timestamp", "1706702400500000", "2024-01-31T12:00:00.500000Z"),
        ("timestamp_ntz", "2024-01-31 12:00:00", "2024-01-31 12:00:00.000000"),
        ("double", "1.0E10", "1.0E10"),
        ("float", "NaN", "NaN"),
    ],
)
def test_values_are_written_so_that_every_reader_understands_them(
    type_name: str, text: str | None, written: str | None
) -> None:
    assert partition_values.serialize(text, Primitive(type_name)) == written


def test_bytes_that_are_text_are_kept() -> None:
    binary = Primitive("binary")

    assert partition_values.decode_text("é".encode(), "code", binary) == "é"
    assert partition_values.decode_text(b"", "code", binary) is None


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(
        InvalidRequest, match="the binary partition column 'code' has a value that is not UTF-8"
    ):
        partition_values.decode_text(b"\xff", "code", Primitive("binary"))


def test_a_moment_beyond_the_years_is_said_with_its_column() -> None:
    said = partition_values.beyond_years("at", 2**63 - 1)

    assert isinstance(said, InvalidRequest)
    assert "the partition column 'at' has the value 9223372036854775807" in said.message
