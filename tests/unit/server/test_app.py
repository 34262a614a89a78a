"""The application itself: what is not there, and who is not known, is said in the dialect that was asked."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.catalogs import a_catalog
from tests.support.http_server import serving


def _status_and_body(url: str) -> tuple[int, dict[str, object]]:
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


@pytest.mark.parametrize(
    "path",
    ["/api/2.1/unity-catalog/delta/v1/nowhere", "/api/2.1/unity-catalog/nowhere", "/api/headgate/v1/nowhere"],
)
def test_what_is_not_there_is_a_404(tmp_path: Path, path: str) -> None:
    with a_catalog("sqlite", tmp_path) as catalog, serving(catalog) as url:
        assert _status_and_body(url + path)[0] == 404
