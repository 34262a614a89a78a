"""What the text of a partition value means."""

import pytest

from headgate.errors import CorruptLog
from headgate.protocol import partitions
from headgate.protocol.schema.types import Array, DataType, Primitive


@pytest.mark.parametrize(
    ("type_name", "text", "meaning"),
    [
        ("string", " a/b=c ", " a/b=c "),
        ("binary", "\x01ü", "\x01ü"),
        ("boolean", "TRUE", "true"),
        ("byte", "-128", "-128"),
        ("long", "+007", "7"),
        ("double", "1.0E10", "10000000000.0"),
        ("float", "Infinity", "inf"),
        ("decimal(10,2)", "1E+3", "1000"),
        ("decimal(10,2)", "-0.50", "-0.50"),
        ("date", "0001-02-03", "0001-02-03"),
        ("timestamp", "2024-01-31 12:00:00", "2024-01-31 12:00:00Z"),
        ("timestamp", "1960-01-31 12:00:00.123456", "1960-01-31 12:00:00.123456Z"),
        ("timestamp", "2024-01-31T12:00:00.5Z", "2024-01-31 12:00:00.500000Z"),
        ("timestamp", "2024-01-31T12:00:00+02:00", "2024-01-31 10:00:00Z"),
        ("timestamp_ntz", "2024-01-31 12:00:00.000001", "2024-01-31 12:00:00.000001"),
    ],
)
def test_text_becomes_a_value_that_casts_alike_everywhere(type_name: str, text: str, meaning: str) -> None:
    assert partitions.canonical(text, Primitive(type_name)) == meaning


@pytest.mark.parametrize("text", [None, ""])
@pytest.mark.parametrize("type_name", ["string", "long", "date"])
def test_nothing_is_null(type_name: str, text: str | None) -> None:
    assert partitions.canonical(text, Primitive(type_name)) is None


@pytest.mark.parametrize(
    ("data_type", "text"),
    [
        (Primitive("byte"), "128"),
        (Primitive("integer"), "1.5"),
        (Primitive("boolean"), "yes"),
        (Primitive("double"), "many"),
        (Primitive("decimal(5,2)"), "NaN"),
        (Primitive("decimal(5,2)"), "five"),
        (Primitive("date"), "2024-02-30"),
        (Primitive("timestamp"), "noon"),
        (Array(Primitive("long"), contains_null=True), "1"),
    ],
)
def test_text_that_means_nothing_is_a_broken_log(data_type: DataType, text: str) -> None:
    with pytest.raises(CorruptLog, match="partition value"):
        partitions.canonical(text, data_type)
