"""The options of writes are said once: what takes them agrees with the rows."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

import pytest
from pyspark.sql import Column

from headgate.errors import InvalidRequest
from headgate.lake.table import Table
from headgate.spark.data_files import option_rows
from headgate.spark.data_files.option_rows import OPTIONS, OptionKind, OptionRow, WriteKind
from headgate.spark.data_files.write_options import WriteKwargs, WriteOptions
from headgate.spark.streaming import stream_write_options
from headgate.spark.streaming.stream_write_options import (
    BatchDomains,
    BatchKwargs,
    StreamKwargs,
    StreamOptions,
)

APPEND, OVERWRITE, CREATE, REPLACE, STREAM, CHANGE = WriteKind
INTERNAL = {"epoch", "read_at"}
"""What a stream adds to the options of its batches, and nobody asks for."""
NAMES = str | tuple[str, ...] | list[str]
ANNOTATIONS: Mapping[OptionKind, object] = {
    option_rows.FLAG: bool,
    option_rows.COUNT: int,
    option_rows.VERSION: int,
    option_rows.TEXT: str,
    option_rows.CONDITION: Column | str,
    option_rows.SQL: str,
    option_rows.COLUMNS: NAMES,
    option_rows.OVERWRITE_MODE: str,
    option_rows.BATCH: tuple[str, int],
    option_rows.DOMAINS: Mapping[str, str],
    option_rows.INTERVAL: str,
}


def names(rows: tuple[OptionRow, ...]) -> set[str]:
    return {row.name for row in rows}


def test_keyword_arguments_of_writes_are_the_rows() -> None:
    hints = get_type_hints(WriteKwargs)

    assert hints.keys() == names(option_rows.options_for(APPEND, OVERWRITE, CREATE, REPLACE))
    assert hints == {name: ANNOTATIONS[option_rows.option_row(name).kind] for name in hints}


def test_keyword_arguments_of_streams_are_the_rows() -> None:
    hints = get_type_hints(StreamKwargs)
    domains = hints.pop("domains")

    assert hints.keys() | {"domains"} == names(option_rows.options_for(STREAM))
    assert hints == {name: ANNOTATIONS[option_rows.option_row(name).kind] for name in hints}
    assert {Mapping[str, str], *get_args(BatchDomains | None)[:1]} == set(get_args(domains))
    assert get_type_hints(BatchKwargs).keys() < get_type_hints(StreamKwargs).keys()


def test_what_a_write_knows_are_the_rows_with_their_defaults() -> None:
    defaults = {row.name: row.default for row in option_rows.options_for(APPEND, OVERWRITE, CREATE, REPLACE)}
    fields = {field.name: getattr(WriteOptions(), field.name) for field in dataclasses.fields(WriteOptions)}

    assert {name: value for name, value in fields.items() if name not in INTERNAL} == defaults
    assert fields.keys() >= INTERNAL


def test_what_a_stream_knows_besides_are_the_rows_of_streams_alone() -> None:
    alone = {row.name: row.default for row in OPTIONS if row.taken_by == {STREAM}}
    known = {
        field.name: field.default
        for field in dataclasses.fields(StreamOptions)
        if field.name not in ("mode", "write", "checkpoint", "domains")
    }

    assert known == alone
    options = stream_write_options.from_kwargs(
        "append", {"app_id": "loader", "available_now": True, "compression": "zstd"}, "c"
    )
    assert (options.app_id, options.available_now, options.write.compression) == ("loader", True, "zstd")


@pytest.mark.parametrize("call", [Table.delete, Table.update, Table.merge], ids=lambda call: call.__name__)
def test_what_changes_rows_takes_the_options_that_say_so(call: Callable[..., Any]) -> None:
    parameters = inspect.signature(call).parameters.keys()

    assert parameters & names(OPTIONS) == names(option_rows.options_for(CHANGE))


def test_an_append_leaves_out_what_says_which_rows_are_replaced() -> None:
    asked = WriteOptions(replace_where="a = 1", max_records_per_file=7)

    assert asked.for_append() == WriteOptions(max_records_per_file=7)
    assert names(option_rows.overwrite_only_options()) == {
        "overwrite_schema", "replace_where", "replace_using", "replace_on", "partition_overwrite",
        "keep_null_partitions",
    }  # fmt: skip


def test_no_name_is_said_twice() -> None:
    spelled = [name.lower() for row in OPTIONS for name in row.delta]

    assert len(set(spelled)) == len(spelled)
    assert len(names(OPTIONS)) == len(OPTIONS)
    assert all(len(row.kind.reads) == len(row.delta) for row in OPTIONS if row.delta)


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({}, {}),
        ({"MAXRECORDSPERFILE": "5"}, {"max_records_per_file": 5}),
        ({"replaceUsing": " a ,b,"}, {"replace_using": ("a", "b")}),
        ({"partitionOverwriteMode": "DYNAMIC"}, {"partition_overwrite": "dynamic"}),
        ({"txnappid": "App", "TXNVERSION": "3"}, {"txn": ("App", 3)}),
        ({"dataChange": "False"}, {"data_change": False}),
        ({"path": "s3://b/t", "compression": "zstd"}, {"compression": "zstd"}),
    ],
    ids=str,
)
def test_names_of_delta_stand_for_keyword_arguments(options: dict[str, str], meant: dict[str, Any]) -> None:
    assert option_rows.parse(options, APPEND, OVERWRITE, besides=["Path"]) == meant


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mergeSchem": "true"}, "there is no option 'mergeSchem' of a write: did you mean 'mergeSchema'"),
        ({"merge_schema": "true"}, "did you mean 'mergeSchema'"),
        ({"colour": "red"}, "there is no option 'colour' of a write: there are compression, dataChange, "),
        ({"MergeSchema": "perhaps"}, "the option mergeSchema is true or false, not 'perhaps': correct it"),
        ({"maxRecordsPerFile": "many"}, "the option maxRecordsPerFile is a whole number, not 'many'"),
        ({"txnVersion": "1"}, "txnAppId and txnVersion belong together: give both, or neither"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_by_name(options: dict[str, str], says: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        WriteOptions(**option_rows.parse(options, APPEND, OVERWRITE, CREATE))

    assert says in str(refused.value)
    assert refused.value.code == "DELTA_ILLEGAL_OPTION"


def test_a_stream_does_not_know_what_only_writes_do() -> None:
    assert option_rows.parse({"mergeSchema": "true"}, STREAM) == {"merge_schema": True}
    with pytest.raises(InvalidRequest, match="there is no option 'replaceWhere'"):
        option_rows.parse({"replaceWhere": "a = 1"}, STREAM)
