"""What a user holds shows itself, and is found by name as in a dict; nothing of it starts Spark."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import headgate
from headgate import Lake, Table
from headgate.catalog.targets import DATABASE_FILE
from headgate.errors import TableNotFound
from headgate.lake.lake import LakeAddress
from headgate.settings import Publish, Settings
from headgate.spark.dml.dml_metrics import OperationResult
from headgate.spark.write.explain import ColumnDiff, WriteAlternative, WritePlan
from headgate.table.maintenance.recovery import RecoveryReport

COMMENT = "<script>alert('orders')</script>"
SHOWN = "&lt;script&gt;alert(&#x27;orders&#x27;)&lt;/script&gt;"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    place = tmp_path_factory.mktemp("lake")
    with headgate.connect(place, settings=Settings(publish=Publish.ON_DEMAND)) as opened:
        opened.create_schema("sales")
        orders = opened.create_table(
            "sales.orders",
            f'id BIGINT NOT NULL COMMENT "{COMMENT}", day DATE, name STRING',
            partition_by=["day"],
            properties={"acme.note": COMMENT},
            domains={"acme.loaded": "7"},
        )
        opened.create_table("sales.stock", "sku STRING, n INT", cluster_by=["sku"])
        orders.append([{"id": 1}, {"id": 2}])
        yield opened


def test_tables_are_found_as_in_a_dict(lake: Lake) -> None:
    assert list(lake) == ["sales.orders", "sales.stock"]
    assert lake["sales.orders"].version() == 1
    assert "sales.orders" in lake
    assert not [
        name for name in ("sales.ordres", "none.orders", "orders", "a.b.c", "", ".", 3) if name in lake
    ]
    with pytest.raises(TableNotFound, match=r"did you mean 'sales.orders'"):
        lake["sales.ordres"]


def test_an_empty_lake_is_still_a_lake(tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as empty:
        assert list(empty) == []
        assert empty, "nobody who writes `lake or other` loses a lake that has no table yet"


def test_a_notebook_completes_names_that_its_user_may_see(lake: Lake, tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as own:
        own.create_schema("s")
        for name in ("s.mine", "s.hidden"):
            own.create_table(name, "id BIGINT")
        own.grant("read", on="s.mine", to="ann")
        with headgate.connect(tmp_path, principal="ann") as hers:
            assert hers._ipython_key_completions_() == ["s.mine"]
    assert lake._ipython_key_completions_() == list(lake)


def test_a_schema_has_the_columns_and_their_comments(lake: Lake) -> None:
    found = lake["sales.orders"].schema

    assert [(field.name, field.dataType.simpleString()) for field in found] == [
        ("id", "bigint"),
        ("day", "date"),
        ("name", "string"),
    ]
    assert found["id"].metadata == {"comment": COMMENT}


def test_a_lake_shows_its_schemas_and_tables(lake: Lake) -> None:
    page = lake._repr_html_()

    assert all(word in page for word in ("sales.orders", "sales.stock", "schemas", "warehouse"))


def test_a_table_shows_what_it_is(lake: Lake) -> None:
    orders, stock = lake["sales.orders"]._repr_html_(), lake["sales.stock"]._repr_html_()

    assert all(
        word in orders for word in ("version", "partitioned by", "acme.loaded=7", "BIGINT", "2", SHOWN)
    )
    assert "<script>" not in orders
    assert "clustered by" in stock
    assert "sku" in stock


def test_one_line_takes_no_question_to_the_catalog(lake: Lake, tmp_path: Path) -> None:
    table = lake["sales.orders"]
    by_path = headgate.at_path(tmp_path / "t", columns="id BIGINT")

    assert repr(table) == "Table('sales.orders')"
    table.to_arrow()
    assert repr(table) == "Table('sales.orders', seen=1)"
    assert repr(by_path).startswith(f"Table('delta.`{tmp_path}/t`'")


def test_neither_a_password_nor_a_token_is_shown(lake: Lake) -> None:
    for target in ("postgresql://me:s3cret@host/db", "https://me:s3cret@host/lake?sig=s3cret"):
        address = LakeAddress(target, Settings(), "ann", "hgt_s3cret")
        shown = Lake(lake._catalog, settings=Settings(), world=lake._context.world, address=address)

        assert "s3cret" not in repr(shown) + shown._repr_html_()
        assert "principal='ann'" in repr(shown)


def test_a_catalog_that_does_not_answer_is_no_reason_to_fail(tmp_path: Path) -> None:
    lake = headgate.connect(tmp_path)
    lake.create_schema("s")
    table = lake.create_table("s.t", "id BIGINT")
    lake.close()
    (tmp_path / DATABASE_FILE).unlink()

    assert repr(lake) == f"Lake('{tmp_path}')"
    assert lake._repr_html_().startswith("<pre>Lake(")
    assert table._repr_html_().startswith("<pre>Table(&#x27;s.t&#x27;")
    assert lake._ipython_key_completions_() == []


def test_a_transaction_says_how_it_stands(lake: Lake) -> None:
    tx = lake.transaction(["sales.orders"])
    tx.table("sales.orders").append([{"id": 3}])
    tx.create_table("sales.new", "id BIGINT")
    page = tx._repr_html_()
    assert repr(tx) == "LakeTransaction('this transaction is open', ['sales.new', 'sales.orders'])"
    assert all(word in page for word in ("written", "sales.orders", "made", "sales.new"))
    tx.rollback()
    assert repr(tx).startswith("LakeTransaction('this transaction was rolled back'")


def test_a_snapshot_says_its_versions(lake: Lake) -> None:
    seen = lake.snapshot(["sales.orders", "sales.stock"])

    assert repr(seen) == "LakeSnapshot({'sales.orders': 1, 'sales.stock': 0})"
    assert "sales.stock" in seen._repr_html_()


def test_results_show_what_was_done(lake: Lake) -> None:
    orders = lake["sales.orders"]
    swept = orders.vacuum(timedelta(0), dry_run=True, enforce_retention=False)
    (report,) = lake.check("sales.orders")
    done = OperationResult(3, {"numDeletedRows": 1_200, "numAddedFiles": 0})
    plan = WritePlan(
        (ColumnDiff(COMMENT, "long", None, "is null"),),
        (WriteAlternative("merge_schema=True", "adds it", allowed=True),),
        "is refused",
        allowed=False,
        problem="a column is missing",
    )

    assert repr(swept) == "VacuumResult(0 files, 0 B, would be deleted)"
    assert repr(report) == "IntegrityReport('sales.orders', version=1, is_clean=True, findings=0)"
    assert "data files" in report._repr_html_()
    assert "1,200" in done._repr_html_()
    assert "numAddedFiles" not in done._repr_html_()
    assert repr(plan) == "WritePlan('is refused', allowed=False)"
    assert SHOWN in plan._repr_html_()
    assert repr(RecoveryReport((), dry_run=True)) == "RecoveryReport({}, dry_run=True)"
    assert "RecoveryReport" in RecoveryReport(())._repr_html_()


@pytest.mark.parametrize("name", ["Lake", "Table"])
def test_completion_offers_what_can_be_used(lake: Lake, name: str) -> None:
    held: object = lake if name == "Lake" else lake["sales.orders"]
    offered = [found for found in dir(held) if not found.startswith("_")]

    assert {"name", "schema", "append"} <= set(offered) if isinstance(held, Table) else "tables" in offered
    assert all(getattr(held, found) is not None for found in offered)
