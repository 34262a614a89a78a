"""Delta's Java kernel and its client of Unity Catalog, driven through the gateway that PySpark starts.

Run by path, with the jars and the name of the lake; each request names its server. No Spark session is
needed: the gateway alone has a JVM with Hadoop in it.
"""

import json
import os
import sys
import time
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

ENGINE = "headgate tests"


class Kernel:
    """One client of one server."""

    def __init__(self, gateway, url, catalog, token):
        self._gateway, jvm = gateway, gateway.jvm
        self._java = jvm.java
        delta, storage = jvm.io.delta.kernel, jvm.io.delta.storage.commit
        self._delta = delta
        config = self._java.util.HashMap()
        for name, value in {"uri": url, "auth.type": "static", "auth.token": token}.items():
            config.put(name, value)
        self._engine = delta.defaults.engine.DefaultEngine.create(jvm.org.apache.hadoop.conf.Configuration())
        self._rest = storage.uccommitcoordinator.UCDeltaTokenBasedRestClient(config, None)
        self._client = delta.unitycatalog.UCCatalogManagedClient(self._rest)
        self._catalog = catalog
        self._identify = storage.TableIdentifier
        self._held = None

    def create(self, schema, table):
        """Ask for a place, write version 0 there and name the table."""
        staging = self._rest.createStagingTable(self._storage_name(schema, table))
        types = self._delta.types
        columns = types.StructType().add("id", types.LongType.LONG).add("writer", types.StringType.STRING)
        builder = self._client.buildCreateTableTransaction(
            staging.getTableId().toString(), staging.getLocation(), columns, ENGINE, self._name(schema, table)
        )
        properties = self._java.util.HashMap()
        for entry in staging.getRequiredProperties().entrySet():
            if entry.getValue() is not None and not entry.getKey().startswith("io.unitycatalog."):
                properties.put(entry.getKey(), entry.getValue())
        transaction = builder.withTableProperties(properties).build(self._engine)
        return transaction.commit(
            self._engine, self._delta.utils.CloseableIterable.emptyIterable()
        ).getVersion()

    def load(self, schema, table, version=None, timestamp=None):
        """The version and the ids of all rows, now, at a version or as of a moment."""
        snapshot = self._snapshot(schema, table, version, timestamp)
        return [snapshot.getVersion(), sorted(self._read_ids(snapshot))]

    def append(self, schema, table, ids, publish=False, retries=0):
        """Append rows to what is the latest version now; publish afterwards, as clients should."""
        self.hold(schema, table, ids, retries)
        return self.commit_held(publish=publish)

    def hold(self, schema, table, ids, retries=0):
        """Prepare to append rows to what is the latest version now, and wait."""
        snapshot = self._snapshot(schema, table)
        write = self._delta.Operation.WRITE
        transaction = (
            snapshot.buildUpdateTableTransaction(ENGINE, write).withMaxRetries(retries).build(self._engine)
        )
        self._held = transaction, self._append_actions(transaction, ids)

    def commit_held(self, publish=False):
        """Commit what was prepared; the version it became."""
        transaction, actions = self._held
        result = transaction.commit(self._engine, actions)
        if publish:
            result.getPostCommitSnapshot().get().publish(self._engine)
        return result.getVersion()

    def publish(self, schema, table):
        """Publish all that is ratified."""
        return self._snapshot(schema, table).publish(self._engine).getVersion()

    def _name(self, schema, table):
        return self._delta.unitycatalog.UCTableIdentifier(self._catalog, schema, table)

    def _storage_name(self, schema, table):
        parts = self._gateway.new_array(self._java.lang.String, 2)
        parts[0], parts[1] = self._catalog, schema
        return self._identify(parts, table)

    def _snapshot(self, schema, table, version=None, timestamp=None):
        found = self._rest.loadTable(self._storage_name(schema, table))
        return self._client.loadSnapshot(
            self._engine,
            found.getTableId().toString(),
            found.getLocation(),
            self._name(schema, table),
            self._optional(version),
            self._optional(timestamp),
        )

    def _optional(self, number):
        if number is None:
            return self._java.util.Optional.empty()
        # A Long alone would come back as a number of Python, and go out again as an Integer.
        return self._java.util.stream.LongStream.rangeClosed(number, number).boxed().findFirst()

    def _append_actions(self, transaction, ids):
        state, whole = transaction.getTransactionState(self._engine), self._java.util.HashMap()
        context = self._delta.Transaction.getWriteContext(self._engine, state, whole)
        path = f"{context.getTargetDirectory().rstrip('/')}/{uuid.uuid4()}.parquet"
        rows = {"id": pa.array(ids, pa.int64()), "writer": pa.array(["kernel"] * len(ids), pa.string())}
        local = "/" + path.removeprefix("file:").lstrip("/")
        pq.write_table(pa.table(rows), local)
        status = self._delta.utils.DataFileStatus(
            path, os.path.getsize(local), int(time.time() * 1000), self._java.util.Optional.empty()
        )
        files = self._delta.internal.util.Utils.singletonCloseableIterator(status)
        actions = self._delta.Transaction.generateAppendActions(self._engine, state, files, context)
        return self._delta.utils.CloseableIterable.inMemoryIterable(actions)

    def _read_ids(self, snapshot):
        """Every row is read by the kernel's own reader, deleted ones left out."""
        scan = snapshot.getScanBuilder().build()
        state, internal = scan.getScanState(self._engine), self._delta.internal
        utils, handler = internal.util.Utils, self._engine.getParquetHandler()
        columns = internal.data.ScanStateRow.getPhysicalDataReadSchema(state)
        for batch in _each(scan.getScanFiles(self._engine)):
            for row in _each(batch.getRows()):
                file = internal.InternalScanFileUtils.getAddFileStatus(row)
                single = utils.singletonCloseableIterator(file)
                for read in _each(
                    handler.readParquetFiles(single, columns, self._java.util.Optional.empty())
                ):
                    one = utils.singletonCloseableIterator(read.getData())
                    for data in _each(self._delta.Scan.transformPhysicalData(self._engine, state, row, one)):
                        yield from (found.getLong(0) for found in _each(data.getRows()))

    def close(self):
        self._rest.close()


def _each(iterator):
    try:
        while iterator.hasNext():
            yield iterator.next()
    finally:
        iterator.close()


def _causes(error):
    """What an exception says, and those behind it."""
    said = []
    while error is not None and len(said) < 8:
        said.append(str(error.toString()))
        error = error.getCause()
    return "\nby ".join(said)


def main(jars, catalog, token):
    conf = SparkConf().set("spark.driver.extraClassPath", os.path.join(jars, "*"))
    options = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    gateway = launch_gateway(
        conf.set("spark.driver.memory", "512m").set("spark.driver.extraJavaOptions", options)
    )
    clients = {}
    for line in sys.stdin:
        asked = json.loads(line)
        url = asked.pop("url")
        if url not in clients:
            clients[url] = Kernel(gateway, url, catalog, token)
        try:
            said = {"answer": getattr(clients[url], asked.pop("do"))(**asked)}
        except Py4JJavaError as exc:
            said = {"refusal": _causes(exc.java_exception)}
        print(json.dumps(said), flush=True)
    for client in clients.values():
        client.close()
    gateway.shutdown()
    gateway.proc.stdin.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
