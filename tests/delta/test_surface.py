"""``headgate.delta`` has every name of ``delta.tables``, with the same parameters, defaults and results."""

import ast
import dataclasses
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import headgate.delta
from headgate.delta import exceptions, tables

RECORDED = Path(__file__).parents[3] / "shared" / "design" / "delta_surface.json"
CALLABLES = (
    "DeltaTable.toDF(self) -> DataFrame",
    "DeltaTable.alias(self, aliasName) -> DeltaTable",
    "DeltaTable.generate(self, mode) -> None",
    "DeltaTable.delete(self, condition=None) -> None",
    "DeltaTable.update(self, condition=None, set=None) -> None",
    "DeltaTable.merge(self, source, condition) -> DeltaMergeBuilder",
    "DeltaTable.vacuum(self, retentionHours=None) -> DataFrame",
    "DeltaTable.history(self, limit=None) -> DataFrame",
    "DeltaTable.detail(self) -> DataFrame",
    "classmethod DeltaTable.convertToDelta(cls, sparkSession, identifier, "
    "partitionSchema=None) -> DeltaTable",
    "classmethod DeltaTable.forPath(cls, sparkSession, path, hadoopConf=dict()) -> DeltaTable",
    "classmethod DeltaTable.forName(cls, sparkSession, tableOrViewName) -> DeltaTable",
    "classmethod DeltaTable.create(cls, sparkSession=None) -> DeltaTableBuilder",
    "classmethod DeltaTable.createIfNotExists(cls, sparkSession=None) -> DeltaTableBuilder",
    "classmethod DeltaTable.replace(cls, sparkSession=None) -> DeltaTableBuilder",
    "classmethod DeltaTable.createOrReplace(cls, sparkSession=None) -> DeltaTableBuilder",
    "classmethod DeltaTable.isDeltaTable(cls, sparkSession, identifier) -> bool",
    "DeltaTable.upgradeTableProtocol(self, readerVersion, writerVersion) -> None",
    "DeltaTable.addFeatureSupport(self, featureName) -> None",
    "DeltaTable.dropFeatureSupport(self, featureName, truncateHistory=None) -> None",
    "DeltaTable.restoreToVersion(self, version) -> DataFrame",
    "DeltaTable.restoreToTimestamp(self, timestamp) -> DataFrame",
    "DeltaTable.optimize(self) -> DeltaOptimizeBuilder",
    "DeltaTable.clone(self, target, isShallow=False, replace=False, properties=None) -> DeltaTable",
    "DeltaTable.cloneAtVersion(self, version, target, isShallow=False, replace=False, "
    "properties=None) -> DeltaTable",
    "DeltaTable.cloneAtTimestamp(self, timestamp, target, isShallow=False, replace=False, "
    "properties=None) -> DeltaTable",
    "DeltaMergeBuilder.whenMatchedUpdate(self, condition=None, set=None) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.whenMatchedUpdateAll(self, condition=None) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.whenMatchedDelete(self, condition=None) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.whenNotMatchedInsert(self, condition=None, values=None) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.whenNotMatchedInsertAll(self, condition=None) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.whenNotMatchedBySourceUpdate(self, condition=None, set=None) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.whenNotMatchedBySourceDelete(self, condition=None) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.withSchemaEvolution(self) -> DeltaMergeBuilder",
    "DeltaMergeBuilder.execute(self) -> DataFrame",
    "DeltaTableBuilder.tableName(self, identifier) -> DeltaTableBuilder",
    "DeltaTableBuilder.location(self, location) -> DeltaTableBuilder",
    "DeltaTableBuilder.comment(self, comment) -> DeltaTableBuilder",
    "DeltaTableBuilder.addColumn(self, colName, dataType, nullable=True, generatedAlwaysAs=None, "
    "generatedByDefaultAs=None, comment=None) -> DeltaTableBuilder",
    "DeltaTableBuilder.addColumns(self, cols) -> DeltaTableBuilder",
    "DeltaTableBuilder.partitionedBy(self, *cols) -> DeltaTableBuilder",
    "DeltaTableBuilder.clusterBy(self, *cols) -> DeltaTableBuilder",
    "DeltaTableBuilder.property(self, key, value) -> DeltaTableBuilder",
    "DeltaTableBuilder.execute(self) -> DeltaTable",
    "DeltaOptimizeBuilder.where(self, partitionFilter) -> DeltaOptimizeBuilder",
    "DeltaOptimizeBuilder.executeCompaction(self) -> DataFrame",
    "DeltaOptimizeBuilder.executeZOrderBy(self, *cols) -> DataFrame",
    "configure_spark_with_delta_pip(spark_session_builder, extra_packages=None) -> SparkSession.Builder",
)
"""The public callables of delta-spark 4.4.1: parameters, their defaults, and what comes back."""
IDENTITY = ("start: int = 1", "step: int = 1")
"""The fields of its one dataclass, ``IdentityGenerator``."""
EXCEPTIONS = (
    "DeltaConcurrentModificationException",
    "ConcurrentWriteException",
    "MetadataChangedException",
    "ProtocolChangedException",
    "ConcurrentAppendException",
    "ConcurrentDeleteReadException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentTransactionException",
)


def test_all_of_the_49_are_there() -> None:
    assert len(CALLABLES) == 48
    assert [row for row in CALLABLES if row not in set(_ours())] == []
    assert tuple(_fields(tables.IdentityGenerator)) == IDENTITY


def test_there_is_no_other_public_method() -> None:
    assert sorted(_ours()) == sorted(CALLABLES)


def test_the_rows_are_those_that_were_read_from_delta_spark() -> None:
    if not RECORDED.exists():
        pytest.skip(f"the record of delta-spark's surface is not there: {RECORDED.name}")
    modules = json.loads(RECORDED.read_text())["modules"]

    assert sorted(_recorded(modules)) == sorted(CALLABLES)
    fields = modules["delta.tables"]["IdentityGenerator"]["members"].values()
    assert tuple(field[0]["signature"] for field in fields) == IDENTITY
    assert tuple(modules["delta.exceptions"]) == EXCEPTIONS


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_an_exception_is_directly_below_that_of_pyspark(name: str) -> None:
    assert getattr(exceptions, name).__bases__ == (PySparkException,)


def test_the_package_offers_what_delta_does() -> None:
    assert set(headgate.delta.__all__) == {"DeltaTable", "configure_spark_with_delta_pip", "__version__"}
    assert headgate.delta.DeltaTable is tables.DeltaTable
    assert headgate.delta.__version__ == "4.4.1"


def test_a_session_needs_no_jar() -> None:
    builder = SparkSession.Builder()

    assert headgate.delta.configure_spark_with_delta_pip(builder) is builder
    assert builder._options == {}
    headgate.delta.configure_spark_with_delta_pip(builder, ["a:b:1", "c:d:2"])
    assert builder._options == {"spark.jars.packages": "a:b:1,c:d:2"}
    with pytest.raises(TypeError, match=r"SparkSession\.builder"):
        headgate.delta.configure_spark_with_delta_pip("builder")  # type: ignore[arg-type]


def _ours() -> Iterator[str]:
    yield _signature("", headgate.delta.configure_spark_with_delta_pip)
    for name in tables.__all__:
        cls = getattr(tables, name)
        for method, member in vars(cls).items():
            if method.startswith("_") or dataclasses.is_dataclass(cls):
                continue
            if isinstance(member, classmethod):
                yield f"classmethod {_signature(f'{name}.', member.__func__)}"
            else:
                yield _signature(f"{name}.", member)


def _signature(owner: str, function: Any) -> str:
    found = inspect.signature(function)
    shown = ", ".join(_parameter(each) for each in found.parameters.values())
    returned = found.return_annotation
    name = returned if isinstance(returned, str) else _type_name(returned)
    return f"{owner}{function.__name__}({shown}) -> {name}"


def _parameter(found: inspect.Parameter) -> str:
    name = f"*{found.name}" if found.kind is inspect.Parameter.VAR_POSITIONAL else found.name
    if found.default is inspect.Parameter.empty:
        return name
    return f"{name}={'dict()' if found.default == {} else repr(found.default)}"


def _type_name(found: Any) -> str:
    return "None" if found is None else str(found.__qualname__)


def _fields(cls: Any) -> Iterator[str]:
    for field in dataclasses.fields(cls):
        yield f"{field.name}: {getattr(field.type, '__name__', field.type)} = {field.default}"


def _recorded(modules: Mapping[str, Any]) -> Iterator[str]:
    for module in ("delta.tables", "delta.pip_utils"):
        for name, recorded in modules[module].items():
            owner = f"{name}." if module == "delta.tables" else ""
            for method, overloads in recorded["members"].items():
                last = overloads[-1]  # those before it are for type checkers
                if not method.startswith("_") and "field" not in last["decorators"]:
                    kind = "classmethod " if "classmethod" in last["decorators"] else ""
                    yield f"{kind}{owner}{_bare(last['signature'])}"


def _bare(signature: str) -> str:
    """A signature without the types of its parameters."""
    function = ast.parse(f"def {signature}: ...").body[0]
    assert isinstance(function, ast.FunctionDef) and function.returns is not None
    given = function.args
    for each in (*given.args, *given.kwonlyargs, *([given.vararg] if given.vararg else [])):
        each.annotation = None
    returned = ast.unparse(function.returns).strip("'\"")
    return f"{function.name}({ast.unparse(given)}) -> {returned}"
