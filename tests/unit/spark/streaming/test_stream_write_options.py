"""What can be asked of a stream, and what another process needs to go on with it."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import LongType, StructField, StructType

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest, SchemaMismatch, TableNotFound
from headgate.lake.lake import Lake
from headgate.protocol.actions import Format, Metadata
from headgate.protocol.metadata.implicit_changes import MetadataOutcome, WriteIntent, plan_metadata
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct
from headgate.settings import Settings
from headgate.spark.streaming import query_identity, stream_write_options
from headgate.spark.streaming.micro_batch import BatchWriter, Destination, check_columns

COLUMNS = Struct((Field("id", Primitive("long")),))
IDS = StructType([StructField("id", LongType())])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    opened = headgate.connect(tmp_path / "lake")
    opened.create_schema("s")
    return opened


@pytest.mark.parametrize(
    ("mode", "asked", "says"),
    [
        ("update", {}, r"foreachBatch\(upsert\).*once\(headgate\.query_id\(batch\), number\)"),
        ("upsert", {}, "is append or complete"),
        ("append", {"overwrite_schema": True}, "mode complete"),
        ("append", {"available_now": True, "processing_time": "1 second"}, "give one"),
        ("append", {"app_id": ""}, "app_id"),
        ("append", {"partition_by": 5}, "partition_by must be a list of names"),
        ("append", {"replace_where": "id = 1"}, "no option 'replace_where' of a stream"),
        ("append", {"txn": ("a", 1)}, "no option 'txn' of a stream"),
    ],
)
def test_what_cannot_be_meant_is_refused(mode: str, asked: Any, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        stream_write_options.from_kwargs(mode, asked, "c")


def test_a_stream_needs_a_checkpoint_and_names_it_for_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidRequest, match="needs a checkpoint"):
        stream_write_options.from_kwargs("append", {}, "")
    assert stream_write_options.from_kwargs("append", {}, "c").checkpoint == str(tmp_path / "c")
    assert stream_write_options.from_kwargs("Complete", {}, "s3://bucket/c").checkpoint == "s3://bucket/c"


def test_options_of_streams_are_those_of_writes_with_casts() -> None:
    asked = stream_write_options.from_kwargs(
        "complete", {"merge_schema": True, "partition_by": ["a"], "app_id": "x"}, "c"
    )

    assert asked.write.implicit_casts and asked.write.merge_schema and asked.write.partition_by == ("a",)
    assert (asked.app_id, asked.saves, asked.overwrites) == ("x", "overwrite", True)
    assert stream_write_options.from_kwargs("append", {}, "c").saves == "append"


def test_what_a_stream_may_cast_is_not_what_is_wrong_with_it() -> None:
    table = Metadata(
        id="t",
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(COLUMNS),
        partition_columns=(),
        configuration={},
    )
    rows = Struct((Field("id", Primitive("integer")), Field("note", Primitive("string"))))

    assert (
        plan_metadata(table, WriteIntent(Struct(rows.fields[:1]), casts=True), uuid=str).outcome
        is MetadataOutcome.KEEP
    )
    with pytest.raises(SchemaMismatch, match="'note' is not in the table: drop") as refused:
        plan_metadata(table, WriteIntent(rows, casts=True), uuid=str)
    assert refused.value.code == "DELTA_METADATA_MISMATCH" and "would become" not in str(refused.value)


@pytest.mark.parametrize(
    ("column", "path"),
    [
        (Primitive("void"), "c"),
        (Struct((Field("id", Primitive("long")), Field("x", Primitive("void")))), "c.x"),
        (Array(Struct((Field("x", Primitive("void")),)), contains_null=True), "c.element.x"),
        (Map(Primitive("void"), Primitive("long"), value_contains_null=True), "c.key"),
        (Map(Primitive("long"), Primitive("void"), value_contains_null=True), "c.value"),
    ],
)
def test_void_columns_are_found_wherever_they_are_s297(column: Any, path: str) -> None:
    check_columns(COLUMNS)

    with pytest.raises(SchemaMismatch, match=f"'{path}' is of type void") as refused:
        check_columns(Struct((*COLUMNS.fields, Field("c", column))))
    assert (refused.value.code, refused.value.sqlstate) == ("DELTA_NULL_SCHEMA_IN_STREAMING_WRITE", "42P18")


def test_the_id_of_a_query_is_in_its_checkpoint(tmp_path: Path) -> None:
    assert query_identity.query_id_of_checkpoint(str(tmp_path)) is None
    (tmp_path / "metadata").write_text('{"id":"0a79272c-593a-41fa-8f17-76c79914fb28"}')

    assert query_identity.query_id_of_checkpoint(str(tmp_path)) == "0a79272c-593a-41fa-8f17-76c79914fb28"


def test_a_writer_of_batches_can_be_sent_to_another_process(lake: Lake, tmp_path: Path) -> None:
    managed = lake.create_table("s.t", IDS)
    plain = headgate.at_path(tmp_path / "t", columns=IDS)

    for table in (managed, lake.table("s.t"), plain):
        sent: BatchWriter = pickle.loads(pickle.dumps(table.batch_writer(mode="complete", app_id="x")))

        assert sent._find().location == table.location
        assert (sent._asked.app_id, sent._asked.mode) == ("x", "complete")


def test_so_can_one_whose_table_is_not_there_yet(lake: Lake) -> None:
    sent: Destination = pickle.loads(
        pickle.dumps(lake._creation.destination("s.new", {"delta.appendOnly": "true"}))
    )

    assert sent.make is not None and sent.properties == {"delta.appendOnly": "true"}
    with pytest.raises(TableNotFound):
        sent.find()


def test_a_lake_without_an_address_stays_in_its_process(tmp_path: Path) -> None:
    lake = Lake(open_catalog(tmp_path / "lake"), settings=Settings(), world=SystemWorld())
    lake.create_schema("s")

    with pytest.raises(InvalidRequest, match="another process cannot repeat"):
        pickle.dumps(lake.create_table("s.t", IDS).batch_writer())


def test_a_table_of_a_transaction_is_not_streamed_to(lake: Lake) -> None:
    lake.create_table("s.t", IDS)

    with lake.transaction() as tx, pytest.raises(InvalidRequest, match="of a transaction or a snapshot"):
        tx.table("s.t").batch_writer()
    with pytest.raises(InvalidRequest, match="of a transaction or a snapshot"):
        lake.snapshot(["s.t"]).table("s.t").batch_writer()
