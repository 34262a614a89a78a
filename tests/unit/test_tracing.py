"""One trace goes from the write through the proposal to the database transaction, and over the wire."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import headgate
from headgate import tracing
from tests.support.catalogs import a_catalog
from tests.support.operated_server import operated
from tests.support.tables import append_change, create_managed, named_file, open_managed

EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def provider() -> None:
    """A process has one provider for good."""
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(EXPORTER))
    trace.set_tracer_provider(made)


@pytest.fixture(autouse=True)
def spans() -> Iterator[InMemorySpanExporter]:
    EXPORTER.clear()
    yield EXPORTER
    EXPORTER.clear()


def _named(name: str) -> list[ReadableSpan]:
    return [span for span in EXPORTER.get_finished_spans() if span.name == name]


def test_a_commit_is_one_trace_down_to_the_database(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog:
        staging = create_managed(catalog)
        table = open_managed(catalog, staging.table_id, staging.location)
        base = table.snapshot()
        EXPORTER.clear()
        with tracing.span("the user's write"):
            table.commit(append_change(named_file("a")), base=base)

    (write,), (commit,), (proposal,) = map(
        _named, ("the user's write", "headgate.commit", "headgate.propose")
    )
    transactions = _named("headgate.database.transaction")
    assert commit.parent is not None
    assert commit.parent.span_id == write.context.span_id
    assert proposal.parent is not None
    assert proposal.parent.span_id == commit.context.span_id
    assert any(
        span.parent is not None and span.parent.span_id == proposal.context.span_id for span in transactions
    )
    assert {span.context.trace_id for span in (write, commit, proposal)} == {write.context.trace_id}


def test_the_call_of_a_user_is_where_a_trace_begins(tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as lake:
        lake.create_schema("s")
        table = lake.create_table("s.t", "id BIGINT")
        EXPORTER.clear()
        table.append([{"id": 1}])

    (call,), (commit,) = map(_named, ("headgate.api.append", "headgate.commit"))
    assert call.parent is None
    assert commit.context.trace_id == call.context.trace_id


def test_a_request_goes_on_with_the_trace_of_its_sender(tmp_path: Path) -> None:
    with a_catalog("sqlite", tmp_path) as catalog, operated(catalog) as server:
        with tracing.span("the client"):
            headers = tracing.trace_headers()
            server.ask("/api/headgate/v1/lakes/main/events", headers=headers)
        server.ask("/health")

    (client,) = _named("the client")
    related, alone = _named("headgate.request")
    assert headers["traceparent"].split("-")[1] == f"{client.context.trace_id:032x}"
    assert related.parent is not None
    assert (related.parent.span_id, related.kind) == (client.context.span_id, SpanKind.SERVER)
    assert alone.parent is None


@pytest.mark.parametrize(
    "header", ["", "x", "00-0-0-0", "00-" + "f" * 400, "00-" + "0" * 32 + "-" + "0" * 16 + "-01"]
)
def test_a_trace_that_is_none_is_left_alone(tmp_path: Path, header: str) -> None:
    with a_catalog("sqlite", tmp_path) as catalog, operated(catalog) as server:
        assert server.ask("/health", headers={"traceparent": header}).status == 200

    assert _named("headgate.request")[0].parent is None


def test_a_failure_is_named_by_its_class_alone() -> None:
    with pytest.raises(ValueError, match="hunter2"), tracing.span("fails"):
        raise ValueError("the password is hunter2")

    (span,) = _named("fails")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "ValueError")
    assert span.events == ()


def test_without_opentelemetry_nothing_happens() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from headgate import tracing\n"
        "assert not tracing.INSTALLED and tracing.trace_headers() == {} and tracing.trace_id() is None\n"
        "with tracing.span('a', {'b': 1}), tracing.server_span('c', {'traceparent': 'x'}): print('done')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ran.stdout == "done\n"
