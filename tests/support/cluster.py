"""A standalone Spark cluster on loopback: a master and workers, processes that share nothing by accident.

Each worker has folders of its own and an environment without the project, and its executors are given a
Python that does not exist: what needs one, or the driver's temporary files, fails here and nowhere else.
"""

import atexit
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from tests.support.waiting import until

HOST = "127.0.0.1"
NO_PYTHON = "/no/python/on/executors"
WORKER = "HEADGATE_TEST_WORKER"
"""In the environment of executors, the number of their worker."""
_HOME = Path(pyspark.__file__).parent
_CLASS = _HOME / "bin" / "spark-class"
_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_EXECUTOR = "CoarseGrainedExecutorBackend"
# Its standard input ends with the process that started it, however that ends; then all of them are killed.
_WITH_PARENT = 'exec 3<&0; { read -r _ <&3; kill -9 -- -$$; } & "$@" </dev/null & wait $!'

SETTINGS: Mapping[str, str] = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": _JVM,
    "spark.executor.cores": "1",
    "spark.executor.memory": "640m",
    "spark.executor.extraJavaOptions": _JVM,
    "spark.log.level": "OFF",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@dataclass
class Cluster:
    """A running master and its workers, by number."""

    folder: Path
    java_home: str
    port: int
    master: subprocess.Popen[bytes]
    workers: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"spark://{HOST}:{self.port}"

    def start_worker(self, number: int) -> None:
        """Start a worker with folders of its own; with one core, so for one executor that has one task."""
        own, host = self.folder / f"worker-{number}", _host(number)
        places = {name: str(own / name) for name in ("local", "temporary", "work")}
        for place in places.values():
            Path(place).mkdir(parents=True, exist_ok=True)
        environment = {
            WORKER: str(number),
            "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_DIRS": places["local"],
            "TMPDIR": places["temporary"],
            "SPARK_DAEMON_JAVA_OPTS": f"{_JVM} -Djava.io.tmpdir={places['temporary']}",
        }
        arguments = ["--host", host, "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        arguments += ["--work-dir", places["work"], self.url]
        self.workers[number] = _start("worker.Worker", arguments, own, self.java_home, environment)

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors, and wait until they are gone."""
        _kill_group(self.workers.pop(number))

    def executors(self, number: int) -> list[int]:
        """The process ids of a worker's executors."""
        return [pid for pid, command in _group(self.workers[number].pid) if _EXECUTOR in command]

    def kill_executors(self, number: int) -> int:
        """Kill a worker's executors, it starts others for whoever is still there; how many there were."""
        found = self.executors(number)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(found)

    def stop(self) -> None:
        """Kill everything that was started; there is nothing it could have to say."""
        for process in (*self.workers.values(), self.master):
            _kill_group(process)
        self.workers.clear()


@contextmanager
def a_cluster(folder: Path, *, workers: int = 2) -> Iterator[Cluster]:
    """A cluster with so many workers, ready for applications; gone at the end, however it comes."""
    java_home = os.environ["JAVA_HOME"]
    port = _free_port()
    folder.mkdir(parents=True, exist_ok=True)
    master = _start(
        "master.Master",
        ["--host", HOST, "--port", str(port), "--webui-port", "0"],
        folder / "master",
        java_home,
        {"SPARK_DAEMON_JAVA_OPTS": _JVM},
    )
    cluster = Cluster(folder, java_home, port, master)
    atexit.register(cluster.stop)
    try:
        for number in range(workers):
            cluster.start_worker(number)
        until(lambda: _has_registered(cluster, workers))
        yield cluster
    finally:
        cluster.stop()
        atexit.unregister(cluster.stop)


def connect(cluster: Cluster, warehouse: Path, settings: Mapping[str, str]) -> SparkSession:
    """A classic session whose driver is this process and whose executors are the cluster's."""
    os.environ["PYSPARK_PYTHON"] = NO_PYTHON
    builder = SparkSession.builder.master(cluster.url).appName("headgate-tests")
    every = {**SETTINGS, "spark.sql.warehouse.dir": str(warehouse), **settings}
    every["spark.cores.max"] = every.get("spark.cores.max", str(len(cluster.workers)))
    for name, value in every.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def settled(cluster: Cluster, spark: SparkSession) -> None:
    """Wait until every worker has an executor that the driver knows."""
    known = spark.sparkContext._jsc.sc().getExecutorMemoryStatus
    until(lambda: known().size() == len(cluster.workers) + 1)


def _has_registered(cluster: Cluster, workers: int) -> bool:
    alive = all(process.poll() is None for process in (cluster.master, *cluster.workers.values()))
    assert alive, f"the cluster did not start: see the logs below {cluster.folder}"
    log = (cluster.folder / "master" / "log").read_text(errors="replace")
    return log.count("Registering worker") >= workers


def _start(
    what: str, arguments: list[str], folder: Path, java_home: str, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            ["bash", "-c", _WITH_PARENT, "bash", str(_CLASS), f"org.apache.spark.deploy.{what}", *arguments],
            cwd=folder,
            env={
                "JAVA_HOME": java_home,
                "LC_ALL": "C.UTF-8",  # Java names files in the encoding of the locale
                "PATH": "/usr/bin:/bin",
                "SPARK_DAEMON_MEMORY": "256m",
                "SPARK_HOME": str(_HOME),
                "SPARK_LOCAL_IP": HOST,
                **environment,
            },
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _group(leader: int) -> Iterator[tuple[int, str]]:
    """The processes of a group, with their commands."""
    told = subprocess.run(
        ["ps", "-eww", "-o", "pid=,pgid=,args="], capture_output=True, text=True, check=True
    )
    for line in told.stdout.splitlines():
        pid, group, command = line.split(maxsplit=2)
        if int(group) == leader:
            yield int(pid), command


def _host(number: int) -> str:
    """An address for each worker, where loopback has several: Spark tries a slow task on another host."""
    other = f"127.0.0.{number + 1}"
    with suppress(OSError), socket.socket() as tried:
        tried.bind((other, 0))
        return other
    return HOST


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])
