"""Arguments of public calls: taken as meant, or refused before anything is done; none ends in a TypeError."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import LongType, StructType

import headgate
from headgate import Lake, Table
from headgate.calls.arguments import coerce_arguments, parameters_of
from headgate.errors import InvalidRequest
from headgate.lake.transaction import LakeSnapshot, LakeTransaction
from headgate.spark.calls.option_kwargs import KINDS
from headgate.spark.dml.merge.merge import Merge
from headgate.spark.streaming.micro_batch import BatchWriter
from headgate.table.maintenance.lease_handle import Lease
from headgate.table.maintenance.worker import Worker

IDS = StructType().add("id", LongType())
CLASSES = (Lake, Table, LakeTransaction, LakeSnapshot, Merge, Worker, Lease, BatchWriter)
FUNCTIONS = (headgate.connect, headgate.at_path, headgate.write_path, headgate.check_path, headgate.convert)
LEFT_TO_THE_CALL = {
    "callback", "generator", "kinds", "owner", "policy", "privilege", "source", "spark", "value", "when",
    "options", "mode", "kind", "error", "trace", "stop", "tell", "args", "frames",
}  # fmt: skip
"""Parameters of types that no row is about, each with words of its own or none to misunderstand."""


class Odd:
    """Something that no argument can be."""


def _calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    for function in FUNCTIONS:
        yield function.__name__, inspect.unwrap(function)
    for cls in CLASSES:
        for name, function in inspect.getmembers(cls, inspect.isfunction):
            if not name.startswith("_") or name == "__call__":
                yield f"{cls.__name__}.{name}", inspect.unwrap(function)


@pytest.mark.parametrize(("call", "function"), [pytest.param(*row, id=row[0]) for row in _calls()])
def test_every_parameter_has_a_row_that_refuses_what_is_no_such_thing(
    call: str, function: Callable[..., Any]
) -> None:
    parameters = parameters_of(function, KINDS)
    for name, parameter in parameters.signature.parameters.items():
        if name in LEFT_TO_THE_CALL | {"self"}:
            continue
        kind = parameters.kinds[name]
        assert kind is not None, f"no row is about {name} of {call}"
        odd: object = (Odd(),) if parameter.kind is parameter.VAR_POSITIONAL else Odd()
        with pytest.raises(
            InvalidRequest, match=rf"^\[DELTA_ILLEGAL_OPTION\] {name} must be .*, not an Odd: \w+"
        ):
            coerce_arguments(kind, name, odd)


def test_one_column_needs_no_list(tmp_path: Path) -> None:
    wide = StructType([*IDS.fields, *StructType().add("day", LongType()).fields])
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        made = lake.create_table("s.t", wide, partition_by="day")
        clustered = lake.create_table("s.c", wide, cluster_by="day")

        assert made.log.snapshot().state.metadata.partition_columns == ("day",)
        assert "delta.clustering" in clustered.log.snapshot().state.domains
        with lake.transaction("s.t") as tx:
            assert tx.table("s.t").version() == 0
