"""A history notices what Headgate does wrong: each fault here is planted in its code, and fails the history.

Delta Spark reads the same wrong rows, so it is the model that notices.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from headgate.protocol.actions import DeletionVector
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.dml import cdc_files
from headgate.spark.dml.deletion_vector_files import DeletionVectorWriter
from tests.support.delta_spark import DeltaSpark
from tests.support.histories.model import Column, State, select
from tests.support.histories.play import Different, play_steps
from tests.support.histories.shapes import Shape
from tests.support.histories.steps import Draw, Engine, Now, Site, Step, sql
from tests.support.histories.values import KINDS

pytestmark = [pytest.mark.interop, pytest.mark.spark]

_FED = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}
_SHAPE = Shape(State((Column("id", KINDS["BIGINT"]), Column("v", KINDS["STRING"]))), _FED)


def _append(_: Random, now: Now) -> Step:
    rows = [{"id": number, "v": f"v{number}"} for number in range(20)]
    query = select(now.state.columns, rows)
    return Step(
        "append twenty rows",
        lambda site: site.table.append(site.frame(query)),
        sql(f"INSERT INTO {{t}} {query}"),
        now.state.with_rows((row["id"], row["v"]) for row in rows),
    )


def _delete(_: Random, now: Now) -> Step:
    return Step(
        "delete the row 5",
        lambda site: site.table.delete("id = 5", spark=site.spark),
        sql("DELETE FROM {t} WHERE id = 5"),
        now.state.with_rows(row for row in now.state.rows if row[0] != 5),
    )


_DRAWS: Sequence[tuple[Engine, Draw]] = ((Engine.HEADGATE, _append), (Engine.HEADGATE, _delete))
Plant = Callable[[pytest.MonkeyPatch], None]


def _hide_the_next_row(patch: pytest.MonkeyPatch) -> None:
    write = DeletionVectorWriter.write

    def wrong(self: DeletionVectorWriter, rows: Sequence[DeletedRows]) -> Sequence[DeletionVector]:
        return write(self, [DeletedRows.from_rows(row + 1 for row in each.rows) for each in rows])

    patch.setattr(DeletionVectorWriter, "write", wrong)


def _lose_a_row(patch: pytest.MonkeyPatch) -> None:
    write = data_file_writer.write_files

    def wrong(df: DataFrame, *given: Any, **named: Any) -> WrittenFiles:
        return write(df.limit(19), *given, **named)

    patch.setattr(data_file_writer, "write_files", wrong)


def _call_a_deletion_an_insertion(patch: pytest.MonkeyPatch) -> None:
    marked = cdc_files._with_change_type

    def wrong(*given: Any) -> DataFrame:
        *rest, change = given
        return marked(*rest, "insert" if change == "delete" else change)

    patch.setattr(cdc_files, "_with_change_type", wrong)


@pytest.mark.parametrize(
    ("plant", "notices"),
    [
        (
            _hide_the_next_row,
            r"Headgate, the latest version: too many \[\(5, 'v5'\)\], missing \[\(6, 'v6'\)\]",
        ),
        (_lose_a_row, r"Headgate, the latest version: too many \[\], missing \[\(19, 'v19'\)\]"),
        (_call_a_deletion_an_insertion, r"changes of 2: too many \[\(5, 'v5'\)"),
    ],
    ids=["a wrong deletion vector", "a lost row", "a wrong kind of change"],
)
def test_a_fault_of_headgate_fails_the_history(
    interpreting: SparkSession,
    delta: DeltaSpark,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    plant: Plant,
    notices: str,
) -> None:
    plant(monkeypatch)

    with pytest.raises(Different, match=notices):
        play_steps(Site(str(tmp_path / "table"), interpreting, delta), _SHAPE, _DRAWS)


def test_the_same_history_passes_without_a_fault(
    interpreting: SparkSession, delta: DeltaSpark, tmp_path: Path
) -> None:
    history = play_steps(Site(str(tmp_path / "table"), interpreting, delta), _SHAPE, _DRAWS)

    assert sorted(history.versions) == [0, 1, 2]
