"""What can be asked of a write, by keyword and by Delta's names."""

from collections.abc import Mapping

import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.schema.types import Primitive
from headgate.spark.data_files import option_rows, partition_folders, write_options
from headgate.spark.data_files.option_rows import WriteKind
from headgate.spark.data_files.partition_folders import PartitionColumn
from headgate.spark.data_files.write_options import WriteOptions


def from_writer(options: Mapping[str, str]) -> WriteOptions:
    """The options of a DataFrame writer, by Delta's names."""
    return WriteOptions(**option_rows.parse(options, WriteKind.APPEND, WriteKind.OVERWRITE, WriteKind.CREATE))


def test_names_of_delta_are_read_in_any_case() -> None:
    """S278"""
    found = from_writer(
        {
            "MERGEschema": "TRUE", "replaceWHERE": "a > 1", "userMetadata": "x", "TxnAppId": "app",
            "txnversion": "7", "maxRecordsPerFile": "10", "compression": "zstd", "dataChange": "true",
            "optimizeWrite": "true",
        }
    )  # fmt: skip

    assert found == WriteOptions(
        merge_schema=True, replace_where="a > 1", user_metadata="x", txn=("app", 7), max_records_per_file=10,
        compression="zstd", optimize_write=True,
    )  # fmt: skip
    assert from_writer({"replaceUsing": "a, b"}).replace_using == ("a", "b")
    assert from_writer({"partitionOverwriteMode": "DYNAMIC"}).is_dynamic
    assert from_writer({"replaceWhere": "a", "mergeSchema": "true"}).for_append() == WriteOptions(
        merge_schema=True
    )
    assert from_writer({}).merge_schema is None
    assert from_writer({"mergeSchema": "false"}).merge_schema is False


@pytest.mark.parametrize(
    "options",
    [
        {"txnAppId": "a"},
        {"txnVersion": "1"},
        {"txnAppId": "a", "txnVersion": "-1"},
        {"txnAppId": "a", "txnVersion": "one"},
        {"mergeSchema": "perhaps"},
        {"maxRecordsPerFile": "0"},
        {"partitionOverwriteMode": "sometimes"},
        {"partitionOverwriteMode": "dynamic", "overwriteSchema": "true"},
        {"partitionOverwriteMode": "dynamic", "replaceWhere": "a = 1"},
        {"replaceWhere": "a = 1", "replaceUsing": "a"},
        {"replaceUsing": "a", "replaceOn": "t.a = s.a"},
        {"replaceOn": "t.a = s.a", "overwriteSchema": "true"},
        {"replaceUsing": "a", "dataChange": "false"},
        {"useNullIntolerantEqualityWithDPO": "true"},
    ],
    ids=str,
)
def test_what_contradicts_itself_is_refused(options: dict[str, str]) -> None:
    """S299, S302, S303"""
    with pytest.raises(InvalidRequest):
        from_writer(options)


def test_what_nobody_knows_is_refused_by_name() -> None:
    with pytest.raises(InvalidRequest, match=r"mergeSchema.*merge_schema"):
        write_options.from_kwargs({"mergeSchema": True})  # type: ignore[typeddict-unknown-key]
    with pytest.raises(InvalidRequest, match="cluster_by must be a list of names"):
        write_options.from_kwargs({"cluster_by": 5})  # type: ignore[typeddict-item]
    for asked in ("day", ["day"], ("day",)):
        assert write_options.from_kwargs({"partition_by": asked}).partition_by == ("day",)  # type: ignore[typeddict-item]
    assert write_options.from_kwargs({"domains": None, "since": None}) == WriteOptions()  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("type_name", "folder", "value"),
    [
        ("string", "plain", "plain"),
        ("string", "a%3Ab", "a:b"),
        ("string", "%25w7w", "ü"),
        ("string", "%25w78_Pg", "ÿ?>"),
        ("string", "x+y", "x+y"),
        ("string", "%25YSBiJQ", "a b%"),
        ("string", "__HIVE_DEFAULT_PARTITION__", None),
        ("string", "%25X19ISVZFX0RFRkFVTFRfUEFSVElUSU9OX18", "__HIVE_DEFAULT_PARTITION__"),
        ("timestamp", "-1", "1969-12-31T23:59:59.999999Z"),
        ("timestamp_ntz", "2024-01-02 03%3A04%3A05.6", "2024-01-02 03:04:05.600000"),
        ("decimal(4,2)", "1E-2", "0.01"),
        ("double", "1.0E10", "1.0E10"),
        ("boolean", "true", "true"),
        ("binary", "0161", "\x01a"),
    ],
)
def test_folders_tell_partition_values(type_name: str, folder: str, value: str | None) -> None:
    column = PartitionColumn("p", "physical", Primitive(type_name), "p")

    assert partition_folders.values_from_path(f"uuid/p={folder}/part-0.parquet", [column]) == {
        "physical": value
    }


@pytest.mark.parametrize(
    ("type_name", "folder", "why"),
    [
        ("string", "%25_w", "not UTF-8"),
        ("binary", "FF", "not UTF-8"),
        ("date", "+10000-01-01", "9999"),
        ("date", "-0044-03-15", "9999"),
        ("timestamp", "253402300800000000", "9999"),
        ("timestamp_ntz", "+10000-01-01 00%3A00%3A00", "9999"),
    ],
)
def test_partition_values_that_a_log_cannot_keep_are_refused(type_name: str, folder: str, why: str) -> None:
    column = PartitionColumn("p", "physical", Primitive(type_name), "p")

    with pytest.raises(InvalidRequest, match=f"'p'.*{why}"):
        partition_folders.values_from_path(f"uuid/p={folder}/part-0.parquet", [column])
