"""How is the server doing? Counters, histograms and gauges for Prometheus, in a registry of each application.

Routes are labelled by their template and callers not at all, so the number of series is that of the routes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from headgate.server.operations.lost_races import LostRaces

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_OF_SOME = re.compile(rb'[{,](lake|webhook)="')
PROPOSAL_OUTCOMES = ("ratified", "conflict", "refused", "unknown", "failed")
_LAKE_GAUGES = {
    "headgate_unpublished_commits": "unpublished",
    "headgate_publisher_lag_seconds": "lag_seconds",
}
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ServerMetrics:
    """What one application counts; safe to share between threads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._by_lake: dict[str, Gauge] = {}
        self.lost_races = LostRaces()
        self.requests = Counter(
            "headgate_requests",
            "Requests that were answered",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "headgate_request_seconds",
            "Seconds from a request to its answer",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.proposals = Counter(
            "headgate_proposals",
            "Proposed commits by what became of them: ratified, conflict, refused, unknown or failed",
            ("lake", "outcome"),
            registry=self.registry,
        )
        self.proposal_seconds = Histogram(
            "headgate_proposal_seconds",
            "Seconds that the catalog took to decide",
            ("lake",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.reported = Counter(
            "headgate_reported",
            "What clients report of their commits: files, bytes and rows that were added, removed or updated",
            ("lake", "what"),
            registry=self.registry,
        )
        self.webhook_deliveries = Counter(
            "headgate_webhook_deliveries", "Calls of webhooks", ("webhook", "outcome"), registry=self.registry
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request has its answer."""
        self.requests.labels(method, route, str(status)).inc()
        self.request_seconds.labels(method, route).observe(seconds)

    def webhook_called(self, webhook: str, outcome: str) -> None:
        """A webhook was called, and took it or did not."""
        self.webhook_deliveries.labels(webhook, outcome).inc()

    def watch(self, name: str, sentence: str, measure: Callable[[], float]) -> None:
        """Show what ``measure`` says whenever somebody looks."""
        Gauge(name, sentence, registry=self.registry).set_function(measure)

    def watch_lake(self, lake: str, gauges: "LakeGauges") -> None:
        """Show how a lake is doing, whenever somebody looks."""
        for name, sentence, measure in (
            (
                "headgate_unpublished_commits",
                "Ratified commits that wait to be published",
                gauges.unpublished,
            ),
            ("headgate_publisher_lag_seconds", "Age of the oldest of them", gauges.lag_seconds),
            ("headgate_database_connections", "Connections to the database in use", gauges.connections),
        ):
            gauge = self._by_lake.get(name) or Gauge(name, sentence, ("lake",), registry=self.registry)
            self._by_lake[name] = gauge
            gauge.labels(lake).set_function(measure)

    def page(self, lake: str | None = None) -> bytes:
        """Everything, in the text format of Prometheus; to those who know of one lake, nothing of others."""
        shown = generate_latest(self.registry)
        if lake is None:
            return shown
        own = f'lake="{lake}"'.encode()
        return b"".join(
            line
            for line in shown.splitlines(keepends=True)
            if line.startswith(b"#") or own in line or not _OF_SOME.search(line)
        )

    def lake_samples(self, lake: str) -> dict[str, float | None]:
        """What is counted and measured of one lake, by short names; None for what nobody measures here."""
        found: dict[str, float | None] = dict.fromkeys((*_LAKE_GAUGES.values(), *PROPOSAL_OUTCOMES))
        names = (*_LAKE_GAUGES, "headgate_proposals_total")
        for metric in self.registry.restricted_registry(names).collect():
            for sample in metric.samples:
                if sample.labels.get("lake") == lake:
                    found[sample.labels.get("outcome") or _LAKE_GAUGES[sample.name]] = sample.value
        return found


@dataclass(frozen=True, slots=True)
class LakeGauges:
    """What is measured of one lake when somebody looks."""

    unpublished: Callable[[], float]
    lag_seconds: Callable[[], float]
    connections: Callable[[], float]
