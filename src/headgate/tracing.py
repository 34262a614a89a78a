"""Where did the time of a commit go? Spans of OpenTelemetry, where it is installed; else this does nothing.

    with tracing.span("headgate.commit", {"headgate.table": "sales.orders"}):
        …

A program that sets up the SDK of OpenTelemetry sees one trace from the write of a DataFrame through the
requests of its client to the database transaction of the server: ``trace_headers`` gives the headers that
take it along, and ``server_span`` goes on with what a request brought. Attributes are names and numbers: no
rows, no locations with credentials. This is the one door by which OpenTelemetry is imported.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

try:
    from opentelemetry import propagate, trace
    from opentelemetry.context import get_current
    from opentelemetry.trace import SpanKind, StatusCode
except ImportError:  # the extra "telemetry" is not installed
    INSTALLED = False
else:
    INSTALLED = True

Attributes = Mapping[str, str | int | float | bool]
_NAME = "headgate"
_NOTHING = nullcontext()
_UNKNOWN = object()
_NAMED_IN_ENVIRONMENT = "OTEL_PYTHON_TRACER_PROVIDER" in os.environ


def span(name: str, attributes: Attributes | None = None) -> AbstractContextManager[None]:
    """What is done inside takes this long, as a part of what goes on around it."""
    return _spanned(name, attributes, None) if INSTALLED and _is_set_up() else _NOTHING


def server_span(
    name: str, headers: Mapping[str, str], attributes: Attributes | None = None
) -> AbstractContextManager[None]:
    """The same in a server, as a part of what the sender of these headers does."""
    wanted = INSTALLED and (_is_set_up() or _brings_trace(headers))
    return _spanned(name, attributes, headers) if wanted else _NOTHING


def trace_headers() -> Mapping[str, str]:
    """The headers by which a request takes the trace along, such as ``traceparent``; often none."""
    headers: dict[str, str] = {}
    if INSTALLED and get_current():  # to ask every propagator what it finds in nothing takes longer
        propagate.inject(headers)
    return headers


def trace_id() -> str | None:
    """The trace that is being recorded, for lines of a log; None if there is none."""
    if not INSTALLED:
        return None
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else None


def _is_set_up() -> bool:
    """Whether a program set up an SDK: without one a span is nothing but the context around it."""
    # To ask for the provider looks at the environment, eleven times in a transaction over two tables.
    if getattr(trace, "_TRACER_PROVIDER", _UNKNOWN) is None and not _NAMED_IN_ENVIRONMENT:
        return False
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def _brings_trace(headers: Mapping[str, str]) -> bool:
    """Whether a request is a part of something, of which lines of a log tell without an SDK too."""
    return not propagate.get_global_textmap().fields.isdisjoint(headers)


@contextmanager
def _spanned(name: str, attributes: Attributes | None, received: Mapping[str, str] | None) -> Iterator[None]:
    parent: Any = None if received is None else propagate.extract(received)
    kind = SpanKind.INTERNAL if received is None else SpanKind.SERVER
    tracer = trace.get_tracer(_NAME)
    with tracer.start_as_current_span(
        name,
        context=parent,
        kind=kind,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield
        except BaseException as exc:  # the class alone: a message may quote what is nobody's business
            current.set_status(StatusCode.ERROR, type(exc).__name__)
            raise
