"""The few switches that do not belong to one table, with the defaults that suit most."""

from dataclasses import dataclass
from enum import Enum


class Publish(Enum):
    """When a ratified commit is copied to ``_delta_log``."""

    SOON = "soon"
    """In the background, moments after the commit; the default."""
    NOW = "now"
    """Before the commit returns."""
    ON_DEMAND = "on-demand"
    """Only when asked, by ``table.publish()`` or ``headgate table publish``."""


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """How a lake uses a database server; a lake in a folder has none."""

    connections: int = 16
    """How many connections a process keeps; as many again are opened while those are busy."""
    connect_seconds: int = 10
    lock_seconds: int = 60
    """How long a commit waits for another of the same table, or for a connection."""
    statement_seconds: int = 60
    """How long one statement may take, and a transaction stand still, before the server ends it."""
    require_durable: bool = True
    """Refuse a server that may lose what it acknowledged (``fsync=off``), instead of a warning in the log."""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How a lake behind a server is reached."""

    connections: int = 64
    """How many connections a process keeps; more are opened while those are busy."""
    connect_seconds: float = 10.0
    answer_seconds: float = 120.0
    """How long an answer may take before it counts as lost."""
    attempts: int = 16
    """How often a request is sent whose answer is lost, if it may be repeated, or that was not sent.

    With the growing pauses between them that is about ten seconds, in which a server can start anew.
    """
    ca_file: str | None = None
    """The certificates by which a server is trusted; None for those of the system."""
    allow_plain_token: bool = False
    """Send a token to another machine without TLS, for everybody on the way to read."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a lake commits and publishes."""

    inline_limit_bytes: int = 256 * 1024
    """Commits up to this size travel to the catalog inline; larger ones are staged as a file."""
    max_attempts: int = 10_000
    """How many lost races a transaction endures before it gives up."""
    max_unanswered: int = 10
    """How many consecutive proposals may stay without an answer before the outcome is called unknown."""
    publish: Publish = Publish.SOON
    publish_batch: int = 128
    """A background publisher starts at once when this many versions wait, else after a quiet moment.

    Publishing syncs two files a version, on the disk that commits wait for: a larger number leaves it to
    a burst of them for longer.
    """
    publish_quiet_seconds: float = 0.2
    checkpoints: bool = True
    """Write a checkpoint of every ``delta.checkpointInterval`` versions (10 unless the table says otherwise).

    When commits come faster than checkpoints are worth, fewer are made: they take at most a
    twentieth of a process's time. When ``publish`` is on demand, so are they.
    """
    checksums: bool = True
    """Write a checksum of the version after which a process pauses, when it publishes."""
    spark_replay_bytes: int = 512 * 1024 * 1024
    """A table whose checkpoint is larger has its log replayed by Spark, and not in this process."""
    scan_files_limit: int = 10_000_000
    """How many files a scan may read from a log that Spark replays; their names must fit into the driver."""
    read_previews: frozenset[str] = frozenset()
    """Previews of features, such as ``catalogOwned-preview``, that are read only if they are named here."""
    unpublished_commits: int = 1_000
    """When this many ratified commits wait to be published, the next one publishes them first."""
    unpublished_bytes: int = 64 * 1024 * 1024
    """The same by the size of what waits: readers get all of it from the catalog."""
    opening_seconds: float = 0.01
    """For how long what the catalog told when a table was opened may serve the first use of it.

    Then ``lake.table(…).read()`` asks the catalog once. With 0 it is asked again.
    """
    events_seconds: float = 0.05
    """How often streams that wait for a commit look for events of their lake, all of them together.

    A commit of this process wakes them at once. Where an answer takes long they look less often, for at most
    a tenth of the time.
    """
    require_owner: bool = False
    """Refuse to read a table whose coordinator is not registered, instead of what is published of it."""
    read_published: bool = False
    """Read what is published of a table whose coordinator does not answer, or has lost what it knew.

    Instead of an error there is a ``StaleRead`` warning, and ``table.unanswered()`` says why. Commits still
    go through the coordinator; maintenance, which would have to know the latest version, is refused.
    """
    database: DatabaseSettings = DatabaseSettings()
    """The database server behind the catalog."""
    http: HttpSettings = HttpSettings()
    """The server in front of the catalog, for a lake at ``http://…`` or ``https://…``."""
