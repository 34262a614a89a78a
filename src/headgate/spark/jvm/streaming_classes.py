"""What are the streaming classes of this version of Spark called? They moved between packages.

In Spark 4.0 they are in ``org.apache.spark.sql.execution.streaming``, in later versions in its package
``runtime``. What a constructor takes is found by the types of its parameters.

``benchmarks/stream_source.py`` justifies it: the other way, a Python reader, takes several times as long.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

_STREAMING = "org.apache.spark.sql.execution.streaming"
_PACKAGES = (f"{_STREAMING}.runtime", _STREAMING)
_UNNAMED = "org.apache.spark.sql.catalyst.streaming.Unassigned$"
SOURCE = f"{_STREAMING}.Source"
AVAILABLE_NOW = "org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow"


class StreamingClassMissing(Exception):
    """This version of Spark has no such class."""


class StreamingClasses:
    """The classes of one JVM."""

    def __init__(self, gateway: Any) -> None:
        self._jvm = jvm = gateway.jvm
        self._offset = self._find("SerializedOffset")
        self._relation = self._find("StreamingExecutionRelation")
        self._frames = jvm.org.apache.spark.sql.classic.Dataset
        self._limits = jvm.org.apache.spark.sql.connector.read.streaming.ReadLimit
        self._attributes = jvm.org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
        self.nothing = jvm.scala.Option.empty()

    def offset(self, text: str) -> JavaObject:
        """An offset of Spark with this text."""
        return self._made(self._offset)(text)

    def max_files(self, count: int) -> JavaObject:
        """A limit of Spark; that it is one at all is all that matters."""
        return self._limits.maxFiles(count)

    def stream_frame(self, source: Any, schema: JavaObject, session: JavaObject) -> JavaObject:
        """A DataFrame that is the stream of a source."""
        given: Mapping[str, Any] = {
            "SparkDataStream": source,
            "Seq": self._attributes(schema),
            "Option": self.nothing,
            "SparkSession": session,
            "StreamingSourceIdentifyingName": None,
        }
        (made,) = self._relation.getConstructors()
        kinds = [kind.getSimpleName() for kind in made.getParameterTypes()]
        if unknown := set(kinds) - given.keys():
            raise StreamingClassMissing(f"{self._relation.getName()} takes {', '.join(sorted(unknown))}")
        arguments = [self._unnamed() if given[kind] is None else given[kind] for kind in kinds]
        return self._frames.ofRows(session, self._made(self._relation)(*arguments))

    def _unnamed(self) -> JavaObject:
        return self._class(_UNNAMED).getField("MODULE$").get(None)

    def _find(self, name: str) -> JavaObject:
        for package in _PACKAGES:
            try:
                return self._class(f"{package}.{name}")
            except Py4JError:
                continue
        raise StreamingClassMissing(f"Spark has no class {name} in {' or '.join(_PACKAGES)}")

    def _class(self, name: str) -> JavaObject:
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        return self._jvm.java.lang.Class.forName(name, True, loader)  # noqa: FBT003 - whether to initialise it

    def _made(self, found: JavaObject) -> Any:
        parent = self._jvm
        for part in found.getName().split("."):
            parent = getattr(parent, part)
        return parent


@lru_cache(maxsize=1)
def streaming_classes(gateway: Any) -> StreamingClasses:
    """The streaming classes of the JVM behind a gateway."""
    return StreamingClasses(gateway)
