"""Whatever makes a table has it say what it is, so that a lost catalog can be rebuilt with its rows."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake
from headgate.errors import CatalogLost, InvalidRequest
from headgate.protocol.metadata.alter_properties import TABLE_ID, TABLE_NAME

pytestmark = pytest.mark.spark


def test_every_way_to_make_a_table_has_it_say_its_id_and_its_name(lake: Lake, spark: SparkSession) -> None:
    lake.create_table("S.Plain", "id BIGINT")
    lake.write(spark.range(2), "s.rows")
    lake.clone("s.rows", "s.cloned")
    lake.replace_table("s.replaced", rows=spark.range(1), or_create=True)
    with lake.transaction() as tx:
        tx.create_table("s.together", "id BIGINT")
    with lake.transaction() as tx:
        tx.drop_table("s.plain")
        tx.create_table("s.plain", "other STRING")

    said = {str(entry.name): lake.table(str(entry.name)).properties() for entry in lake.tables()}

    assert {name: (each[TABLE_ID], each[TABLE_NAME]) for name, each in said.items()} == {
        str(entry.name): (entry.table_id, str(entry.name)) for entry in lake.tables()
    }


def test_what_a_table_says_of_its_catalog_is_not_for_users_to_change(lake: Lake) -> None:
    table = lake.create_table("s.t", "id BIGINT")

    with pytest.raises(InvalidRequest, match="knows the table"):
        table.set_properties({TABLE_NAME: "s.other"})
    with pytest.raises(InvalidRequest, match="knows the table"):
        lake.create_table("s.u", "id BIGINT", properties={TABLE_NAME: "s.other"})


def test_rows_come_back_with_the_catalog(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    table = lake.create_table("s.t", "id BIGINT", cluster_by=["id"])
    table.append(spark.range(5), txn=("app", 7))
    table.set_domain("mine", "kept")
    table.publish()
    lake.clone("s.t", "s.shallow", shallow=True)
    lake.rename("s.t", "s.renamed")
    lake.close()
    for path in (tmp_path / "lake").glob("catalog.sqlite*"):
        path.unlink()

    with pytest.raises(CatalogLost):
        headgate.connect(tmp_path / "lake")
    headgate.recover(tmp_path / "lake")

    with headgate.connect(tmp_path / "lake") as again:
        found = again.table("s.renamed")
        assert found.read().count() == 5
        assert found.domains()["mine"] == "kept"
        found.append(spark.range(5), txn=("app", 7))  # which is known, and so nothing is written twice
        assert found.read().count() == 5
        shallow = again.table("s.shallow")
        shallow.delete("id = 3")
        assert shallow.read().count() == 4
