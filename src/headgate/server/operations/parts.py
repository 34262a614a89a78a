"""What a server keeps for all of its requests: settings, metrics, quotas, and whether it is about to stop."""

from dataclasses import dataclass, field

from headgate.server.operations.access_log import AccessLog
from headgate.server.operations.drain import Drain
from headgate.server.operations.metrics import ServerMetrics
from headgate.server.operations.quotas import Quota
from headgate.server.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class Operations:
    """The parts by which a server is operated; safe to share between threads."""

    settings: ServerSettings
    metrics: ServerMetrics
    drain: Drain
    requests: Quota
    streams: Quota
    access: AccessLog = field(default_factory=AccessLog)


def make_operations(settings: ServerSettings) -> Operations:
    """New parts, with the gauges that need nothing else."""
    metrics = ServerMetrics()
    made = Operations(
        settings,
        metrics,
        Drain(settings.requests),
        Quota("requests", settings.requests_per_principal),
        Quota("streams of events", settings.streams_per_principal),
    )
    metrics.watch(
        "headgate_requests_in_flight", "Requests without an answer yet", lambda: made.drain.in_flight
    )
    metrics.watch("headgate_event_streams", "Streams of events that are followed", made.streams.in_use)
    return made
