"""Delta Spark as a program: a request per line comes in, an answer per line goes out, both as JSON.

``python -m tests.support.delta_spark_child <folder of jars> <folder for itself> <short or long>``; it ends
with its input.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tests.delta.behaviours import BEHAVIOURS
from tests.delta.places import DeltaSparkPlace
from tests.support.plain_rows import dump, plain_rows

_SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    # Its queries are many and small: compiling one takes longer than running it.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
    # As many tasks its VACUUM has for the smallest table; by default 10,000.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    # Around each of its commits it compares the table's checksum with the table, and fails before one.
    "spark.databricks.delta.incremental.commit.verify": "true",
    "spark.databricks.delta.checksum.mismatch.fatal": "true",
    # A test decides itself when a file is old.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}
_JAVA = "-XX:+UseSerialGC -Duser.timezone=UTC"
_COMPILED: Mapping[str, str] = {
    "short": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=192m",
    "long": "-XX:TieredStopAtLevel=4 -XX:ReservedCodeCacheSize=256m",
}
"""How much Java makes of code that runs often: what is hot pays for it after some minutes."""
_INCREMENTAL = "spark.databricks.delta.incremental.commit.enabled"
_OWN = "the checksum that Delta derived from the table's last one is wrong after its commit"
_DELTA = "org.apache.spark.sql.delta"


class Referee:
    """A session with Delta's extensions, and what can be asked of it."""

    def __init__(self, jars: Path, folder: Path, length: str) -> None:
        builder = SparkSession.builder.master("local[2]").appName("referee")
        places = {
            "spark.driver.extraClassPath": str(jars / "*"),
            "spark.driver.extraJavaOptions": f"{_JAVA} {_COMPILED[length]}",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.local.dir": str(folder / "local"),
        }
        for name, value in {**_SETTINGS, **places}.items():
            builder = builder.config(name, value)
        self._spark = builder.getOrCreate()
        self._jvm: Any = self._spark._jvm

    @property
    def requests(self) -> Mapping[str, Callable[..., Any]]:
        return {
            "sql": self.sql,
            "look_back": self.look_back,
            "write": self.write,
            "call": self.call,
            "verify": self.verify,
            "checkpoint": self.checkpoint,
            "domains": self.domains,
            "set_domain": self.set_domain,
            "forget": self.forget,
            "behave": self.behave,
            "run": self.run,
        }

    def gave_up(self) -> bool:
        """Whether it met a wrong checksum after a commit: it then tells nobody, and derives none any more."""
        given_up: bool = self._spark.conf.get(_INCREMENTAL, "true") == "false"
        self._spark.conf.set(_INCREMENTAL, "true")
        return given_up

    def sql(self, text: str, args: Any = None, frames: Mapping[str, str] | None = None) -> Any:
        """Run a statement, with parameters and DataFrames if there are any: its columns and rows."""
        made = {name: self._spark.sql(query) for name, query in (frames or {}).items()}
        return _answer(self._spark.sql(text, args, **made))

    def look_back(self, path: str, versions: list[int], extra: list[str]) -> list[Any]:
        """Of each version its columns and rows, and what is wrong with its checksum, if it has one.

        As VERSION AS OF has them, but each table state is made once and not twice.
        """
        log, none = self._log(path), self._jvm.scala.Option.empty()
        return [
            self._looked_back(log, log.getSnapshotAt(version, none, none, False), extra)
            for version in versions
        ]

    def _looked_back(self, log: Any, snapshot: Any, extra: list[str]) -> list[Any]:
        every, some = self._object("scala.collection.immutable.Nil"), self._jvm.scala.Some
        relation = log.createRelation(every, some(snapshot), self._jvm.scala.Option.empty(), True)
        frame = DataFrame(self._spark._jsparkSession.baseRelationToDataFrame(relation), self._spark)
        answer = _answer(frame.selectExpr("*", *extra))
        crc = Path(log.logPath().toUri().getPath(), f"{snapshot.version():020d}.crc")
        return [answer["columns"], answer["rows"], self._wrong_of(log, snapshot) if crc.exists() else None]

    def write(self, query: str, path: str, mode: str, options: dict[str, str]) -> None:
        """Write the rows of a query by a DataFrame's writer, some options of which SQL does not have."""
        self._spark.sql(query).write.format("delta").mode(mode).options(**options).save(path)

    def call(self, path: str, method: str, arguments: list[Any]) -> None:
        """Call a method of ``DeltaTable`` of which there is no SQL."""
        table = self._jvm.io.delta.tables.DeltaTable.forPath(self._spark._jsparkSession, path)
        getattr(table, method)(*arguments)

    def verify(self, path: str, versions: list[int] | None) -> list[list[Any]]:
        """Compare checksums in the log with the table as the commits have it: version and complaint."""
        log = self._log(path)
        found = sorted(int(crc.stem) for crc in Path(path, "_delta_log").glob("[0-9]*.crc"))
        asked = found if versions is None else [version for version in found if version in versions]
        return [[version, self._complaint(log, version)] for version in asked]

    def _wrong_of(self, log: Any, snapshot: Any) -> str | None:
        """What is wrong with a checksum that is there.

        A state that Delta kept since it committed the version may not know of the checksum that came after.
        """
        if not snapshot.checksumOpt().isEmpty():
            return self._wrong(snapshot)
        self.forget()
        return self._complaint(self._log(log.dataPath().toString()), snapshot.version())

    def _complaint(self, log: Any, version: int) -> str | None:
        none = self._jvm.scala.Option.empty()
        return self._wrong(log.getSnapshotAt(version, none, none, False))

    def _wrong(self, snapshot: Any) -> str | None:
        if snapshot.checksumOpt().isEmpty():
            return "it cannot be read"
        try:
            snapshot.validateChecksum(self._object("scala.collection.immutable.Map").empty())
        except Py4JJavaError as exc:
            return str(exc.java_exception.getMessage())
        return None

    def checkpoint(self, path: str) -> int:
        """Write a checkpoint of the latest version; which one that is. If it fails Delta tells nobody."""
        log = self._log(path)
        latest = self._latest(log)
        log.checkpoint(latest, self._jvm.scala.Option.empty())
        return int(latest.version())

    def domains(self, path: str) -> dict[str, str]:
        """The metadata domains that are there and their configurations."""
        found = self._latest(self._log(path)).domainMetadata()
        every = [found.apply(place) for place in range(found.size())]
        return {each.domain(): each.configuration() for each in every if not each.removed()}

    def set_domain(self, path: str, domain: str, configuration: str) -> None:
        """Give a metadata domain a configuration in a commit of its own."""
        action = getattr(self._jvm, f"{_DELTA}.actions.DomainMetadata")(domain, configuration, False)
        actions = self._object("scala.collection.immutable.Nil").prepended(action)
        operation = self._object(f"{_DELTA}.DeltaOperations$ManualUpdate")
        self._log(path).startTransaction().commit(actions, operation)

    def forget(self) -> None:
        """Let go of all tables, whose states it keeps in Spark's cache."""
        getattr(self._jvm, f"{_DELTA}.DeltaLog").clearCache()

    def behave(self, packages: str, name: str, folder: str) -> Any:
        """What a behaviour of ``delta.tables`` is with Delta's own, which is among these packages."""
        api, exceptions = (_imported(packages, f"delta.{each}") for each in ("tables", "exceptions"))
        place = DeltaSparkPlace(self._spark, Path(folder), api, exceptions)
        Path(folder).mkdir()
        return BEHAVIOURS[name](place)

    def run(self, packages: str, project: str, folder: str) -> Any:
        """What the ``main`` of a project of Delta's users gives back."""
        _imported(packages, "delta")
        return _imported(project, "main").main(self._spark, Path(folder))

    def _log(self, path: str) -> Any:
        return getattr(self._jvm, f"{_DELTA}.DeltaLog").forTable(self._spark._jsparkSession, path)

    def _object(self, name: str) -> Any:
        return getattr(getattr(self._jvm, f"{name}$"), "MODULE$")

    def _latest(self, log: Any) -> Any:
        none = self._jvm.scala.Option.empty()
        return log.update(False, none, none)


def _imported(folder: str, name: str) -> Any:
    """A module of that name, from this folder if nobody else has one."""
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


def _answer(frame: DataFrame) -> dict[str, Any]:
    return {"columns": _columns(frame), "rows": [dump(row) for row in plain_rows(frame)]}


def _columns(frame: DataFrame) -> list[list[str]]:
    return [[field.name, field.dataType.simpleString()] for field in frame.schema.fields]


def _answers(referee: Referee, requests: TextIO) -> Iterator[dict[str, Any]]:
    for line in requests:
        request = json.loads(line)
        try:
            answer = referee.requests[request["request"]](*request["arguments"])
            yield {"refusal": _OWN, "condition": ""} if referee.gave_up() else {"answer": answer}
        except PySparkException as exc:
            yield {"refusal": str(exc), "condition": exc.getCondition() or ""}
        except Py4JJavaError as exc:
            thrown = exc.java_exception
            said = f"{thrown.getClass().getName()}: {thrown.getMessage()}"
            yield {"refusal": said, "condition": condition_of(thrown)}
        except Py4JError as exc:
            yield {"refusal": str(exc), "condition": ""}


def condition_of(thrown: Any) -> str:
    """The name that an exception of Java has for its error, if it has one."""
    try:
        return thrown.getCondition() or ""
    except Py4JError:
        return ""


def main(jars: Path, folder: Path, length: str) -> None:
    """Answer until the input ends."""
    # Spark and its JVM print to what they take for the output; only answers may come there.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    referee = Referee(jars, folder, length)
    print(json.dumps({"answer": "ready"}), file=answers, flush=True)
    for answer in _answers(referee, sys.stdin):
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
