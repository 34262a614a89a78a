"""The OpenAPI document is served, whole, and true: schemathesis finds nothing that it does not say."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from headgate.catalog.embedded import open_catalog
from tests.support.operated_server import operated
from tests.support.serve_process import serve_process
from tests.support.tables import create_managed

KNOWN = {
    "lake": "main",
    "catalog": "main",
    "schema": "test",
    "table": "t",
    "full_name": "main.test.t",
    "name": "main",
    "securable_type": "table",
}
CASES = int(os.environ.get("HEADGATE_SCHEMA_CASES", "3"))
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    with closing(open_catalog(folder)) as catalog:
        create_managed(catalog)
    return folder


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from _references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _references(inner)


def test_everything_it_refers_to_is_there(lake: Path) -> None:
    with closing(open_catalog(lake)) as catalog, operated(catalog) as server:
        document = server.ask("/schema/openapi.json").json

    names = {name.removeprefix("#/components/schemas/") for name in _references(document)}
    assert names <= set(document["components"]["schemas"])
    assert all(
        "default" in route["responses"] for routes in document["paths"].values() for route in routes.values()
    )


def _probe(operation: Any, url: str, failures: list[str]) -> None:
    """Send what the document allows for one route; what it should not have answered is written down."""
    named = {name: value for name, value in KNOWN.items() if f"{{{name}}}" in operation.path}

    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    @given(case=operation.as_strategy(path_parameters=named or None))
    def probe(case: Any) -> None:
        try:
            case.validate_response(case.call(base_url=url), checks=list(CHECKS))
        except FailureGroup as found:
            failures.extend(f"{operation.label}: {each}" for each in found.exceptions)

    probe()


def test_no_answer_is_another_than_it_says(lake: Path, tmp_path: Path) -> None:
    failures: list[str] = []
    # In a process of its own: Python 3.11 mixes up two threads that parse source at the same moment, as
    # Hypothesis does to describe a case and the server to log a traceback (CPython issue 106905).
    with serve_process(str(lake), tmp_path, "--no-auth") as server:
        schema = schemathesis.openapi.from_url(f"{server.url}/schema/openapi.json")
        for found in schema.get_all_operations():
            _probe(found.ok(), server.url, failures)

    assert not failures, "\n".join(failures[:20])
