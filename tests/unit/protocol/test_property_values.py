"""What a property of a table says: stated in any case, or by its default."""

import pytest

from headgate.protocol import property_values
from headgate.protocol.actions import Format, Metadata
from headgate.protocol.metadata.table_properties import FLAG, PROPERTIES, Property


def stated(**configuration: str) -> Metadata:
    return Metadata(
        id="m",
        format=Format(provider="parquet", options={}),
        schema_string="{}",
        partition_columns=(),
        configuration=configuration,
    )


@pytest.mark.parametrize(
    ("value", "holds"), [("true", True), ("TRUE", True), ("false", False), ("", False), ("yes", False)]
)
@pytest.mark.parametrize("name", [property_values.APPEND_ONLY, property_values.EXPIRED_LOG_CLEANUP])
def test_a_flag_is_true_in_any_case_and_else_false(name: str, value: str, holds: bool) -> None:
    assert property_values.flag(stated(**{name: value}), name) is holds


@pytest.mark.parametrize("row", [row for row in PROPERTIES if row.kind is FLAG], ids=lambda row: row.name)
def test_a_flag_that_is_not_stated_is_as_its_row_says(row: Property) -> None:
    assert property_values.flag(stated(), row.name) is (row.default == "true")


def test_what_is_not_stated_and_has_no_default_is_empty() -> None:
    assert property_values.text(stated(), "delta.fromTheFuture") == ""
    assert property_values.text(stated(), property_values.ISOLATION_LEVEL) == "Serializable"
    assert property_values.text(stated(a="B"), "a") == "B"


def test_a_number_is_the_one_stated_or_the_default() -> None:
    assert property_values.whole_number(stated(), property_values.STATS_COLUMN_COUNT) == 32
    assert property_values.whole_number(stated(a="-1"), "a") == -1


@pytest.mark.parametrize(
    ("configuration", "off"), [({}, False), ({"a": "True"}, False), ({"a": "false"}, True), ({"a": ""}, True)]
)
def test_only_what_is_stated_is_switched_off(configuration: dict[str, str], off: bool) -> None:
    assert property_values.is_switched_off(configuration, "a") is off


def test_every_default_is_one_that_its_property_can_have() -> None:
    assert property_values.DEFAULTS.keys() <= {row.name for row in PROPERTIES}
    assert all(row.kind.accepts(row.default) for row in PROPERTIES if row.default is not None)


@pytest.mark.parametrize(("value", "holds"), [(True, True), ("True", True), (None, False), (1, False)])
def test_a_tag_may_be_a_boolean(value: object, holds: bool) -> None:
    assert property_values.is_true(value) is holds
