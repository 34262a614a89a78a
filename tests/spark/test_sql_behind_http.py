"""SQL on a lake behind a server is SQL on any lake."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.errors import TableNotFound
from tests.support.catalogs import a_catalog
from tests.support.http_server import serving

pytestmark = pytest.mark.spark


def test_a_lake_behind_a_server_runs_sql(tmp_path: Path, spark: SparkSession) -> None:
    with (
        a_catalog("sqlite", tmp_path / "lake") as behind,
        serving(behind) as url,
        headgate.connect(f"{url}/main") as lake,
    ):
        lake.sql("CREATE SCHEMA s")
        lake.sql("CREATE TABLE s.t (id INT, name STRING)")
        lake.sql("BEGIN")
        lake.sql("INSERT INTO s.t VALUES (1, 'a'), (2, 'b')")
        lake.sql("CREATE TABLE s.u AS SELECT * FROM s.t")
        lake.sql("COMMIT")
        lake.register(spark)
        try:
            assert spark.sql("SELECT t.name FROM s.t JOIN s.u USING (id) WHERE id = 2").first().name == "b"
            assert spark.sql("DELETE FROM s.t WHERE id = 1").first().num_affected_rows == 1
            assert [row.tableName for row in lake.sql("SHOW TABLES IN s LIKE 't*'").collect()] == ["t"]
            with pytest.raises(TableNotFound):
                spark.table("s.nothing")
        finally:
            lake.unregister(spark)
