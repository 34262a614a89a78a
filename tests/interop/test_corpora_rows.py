"""The rows of tables written by others: those on which independent engines agree, or the protocol decides."""

import msgspec
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate
from headgate.errors import HeadgateError
from tests.support import corpora, duck
from tests.support.corpora import Corpus

pytest_plugins = ["tests.support.pass_rates"]
pytestmark = [pytest.mark.spark, pytest.mark.interop, corpora.needs_corpora]

AGREED = [table for table in corpora.tables() if table.digest and table.path not in corpora.REFUSED]
DECIDED = [table for table in corpora.tables() if table.path in corpora.DECIDED]
VARIANTS = [table for table in corpora.tables() if table.state == "disputed" and "type:variant" in table.tags]
# Its author expects timestamps of Los Angeles read as such; partition values without a zone are UTC here.
ELSEWHERE = "kernelrs_golden/data-reader-partition-values/delta"
WITH_ROWS = [
    table
    for table in corpora.tables()
    if table.expected() and table.path != ELSEWHERE and table.path not in corpora.REFUSED
]
WITHOUT_DATA = [
    table
    for table in corpora.tables()
    if table.state == "all-refuse" and table.path not in {*corpora.REFUSED, *corpora.NOTHING_LEFT}
]


@pytest.mark.parametrize("table", corpora.parameters("rows", AGREED))
def test_the_rows_are_those_on_which_engines_agree(table: Corpus, spark: SparkSession) -> None:
    found = headgate.at_path(table.location).read(spark=spark).toArrow()

    assert found.num_rows == table.rows
    assert corpora.row_digest(found) == table.digest


@pytest.mark.parametrize("table", corpora.parameters("rows", DECIDED))
def test_the_protocol_decides_where_engines_differ(table: Corpus, spark: SparkSession) -> None:
    found = headgate.at_path(table.location).read(spark=spark).toArrow()

    assert corpora.row_digest(found) == corpora.DECIDED[table.path]


@pytest.mark.parametrize("table", corpora.parameters("rows", VARIANTS))
def test_variants_are_the_documents_duckdb_reads(table: Corpus, spark: SparkSession) -> None:
    if spark.version.startswith("4.0."):
        pytest.skip("Spark 4.0 cannot read shredded variants, and Headgate says so")
    rows = headgate.at_path(table.location).read(spark=spark)
    texts = rows.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"})).toArrow()[0].to_pylist()
    with duck.connect() as connection:
        scanned = connection.sql(f"SELECT * FROM delta_scan('{table.location}')")
        theirs = [dict(zip(scanned.columns, row, strict=True)) for row in scanned.fetchall()]

    ours = [msgspec.json.decode(text) for text in texts]

    assert corpora.documents_digest(ours) == corpora.documents_digest(theirs)


@pytest.mark.parametrize(
    ("table", "version"),
    [
        pytest.param(*parameter.values, version, id=f"{parameter.id}-v{version}", marks=parameter.marks)
        for parameter in corpora.parameters("rows", WITH_ROWS)
        for version in range(parameter.values[0].replay.version + 1)
        if parameter.values[0].expected(version)
    ],
)
def test_the_rows_of_a_version_are_those_its_author_expects(
    table: Corpus, version: int, spark: SparkSession
) -> None:
    expected = table.expected(version)
    assert expected is not None

    found = headgate.at_path(table.location).read(version=version, spark=spark).toArrow()

    assert corpora.row_digest(found) == corpora.row_digest(corpora.read_parquet(expected))


@pytest.mark.parametrize("known", [pytest.param(table, id=table.name) for table in WITHOUT_DATA])
def test_a_table_whose_files_are_gone_is_an_error_and_not_empty(known: Corpus, spark: SparkSession) -> None:
    with pytest.raises((HeadgateError, Py4JError, PySparkException)):
        headgate.at_path(known.location).read(spark=spark).toArrow()


@pytest.mark.parametrize("known", [pytest.param(table, id=table.name) for table in WITH_ROWS])
def test_the_rows_on_which_engines_agree_are_those_the_author_expects(known: Corpus) -> None:
    expected = known.expected()
    assert expected is not None

    assert corpora.row_digest(corpora.read_parquet(expected)) == known.digest
