"""Which lakes does a Spark session know, and which table is meant by a name there?

    register(spark, lake, "main")
    find_lake(spark, ("sales", "orders"))            the lake, and TableName("sales", "orders")
    find_lake(spark, ("main", "sales", "orders"))    the same, by the name of the lake
    find_lake(spark, ("default", "other"))           None: no lake has such a schema, so it is Spark's

A session carries what was registered in its configuration, ``spark.headgate.lakes``, so that a session which
Spark clones from it, as for ``foreachBatch``, knows the same lakes. One made by ``newSession()`` knows none.
"""

import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pyspark.sql import SparkSession

from headgate.catalog.ports.directory import TableName
from headgate.data_source import headgate_source
from headgate.errors import InvalidRequest
from headgate.lake.lake import Lake

LAKES = "spark.headgate.lakes"
"""What the configuration of a session has: ``name=id`` for each of its lakes, as they were registered."""
DEFAULT_NAME = "main"


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A name that is a lake's: which lake, and which table of it, whether or not there is one."""

    lake: Lake
    name: TableName


_lock = threading.Lock()
_registered: dict[str, Lake] = {}


def register(spark: SparkSession, lake: Lake, name: str = DEFAULT_NAME) -> None:
    """Have the session, and those cloned from it later, know the lake; under a name it had it is another."""
    if not name.isidentifier():
        raise InvalidRequest(f"{name!r} cannot be the name of a lake in SQL: use letters, digits and _")
    with _lock:
        known = {
            each: lake_id for each, lake_id in _ids(spark).items() if _registered.get(lake_id) is not lake
        }
        lake_id = uuid.uuid4().hex
        _registered[lake_id] = lake
        _remember(spark, {**known, name.lower(): lake_id})
    reachable = {each: known for each, known in registered_lakes(spark).items() if known.address is not None}
    headgate_source.register_source(spark, reachable)


def unregister(spark: SparkSession, lake: Lake) -> None:
    """Have the session know the lake no longer; sessions that were cloned from it still do."""
    with _lock:
        _remember(
            spark, {each: known for each, known in _ids(spark).items() if _registered.get(known) is not lake}
        )


def registered_lakes(spark: SparkSession) -> Mapping[str, Lake]:
    """The lakes of the session by their names, in the order in which they were registered."""
    found = {name: _registered[known] for name, known in _ids(spark).items() if known in _registered}
    return MappingProxyType(found)


def find_lake(spark: SparkSession, parts: Sequence[str]) -> LakeTable | None:
    """Whose a name of two or three parts is; None if it is no lake's.

    A lake is meant by its own name, or if it has a schema of that name: the first one registered wins.
    """
    return find_in(registered_lakes(spark), parts)


def find_in(lakes: Mapping[str, Lake], parts: Sequence[str]) -> LakeTable | None:
    """The same among these lakes."""
    if len(parts) == 3 and parts[0].lower() in lakes:
        return LakeTable(lakes[parts[0].lower()], TableName(parts[1], parts[2]))
    if len(parts) != 2:
        return None
    schema = parts[0].lower()
    owner = next((lake for lake in lakes.values() if _has_schema(lake, schema)), None)
    return None if owner is None else LakeTable(owner, TableName(parts[0], parts[1]))


def _has_schema(lake: Lake, schema: str) -> bool:
    return any(each.lower() == schema for each in lake.schemas())


def _ids(spark: SparkSession) -> dict[str, str]:
    said = spark.conf.get(LAKES, "") or ""
    pairs = (each.partition("=") for each in said.split(",") if each)
    return {name: lake_id for name, _, lake_id in pairs}


def _remember(spark: SparkSession, ids: Mapping[str, str]) -> None:
    spark.conf.set(LAKES, ",".join(f"{name}={lake_id}" for name, lake_id in ids.items()))
