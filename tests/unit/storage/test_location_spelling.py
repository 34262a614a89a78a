"""One place has one spelling, whoever wrote it."""

import os

import pytest

from headgate.storage import location_spelling


@pytest.mark.parametrize(
    "spelled", ["s3://b/a b/t", "s3a://b/a b/t", "s3://b/a%20b/t", "s3a://b/a%20b/t/"], ids=str
)
def test_a_bucket_url_is_compared_by_the_scheme_of_its_store(spelled: str) -> None:
    assert location_spelling.comparable(spelled) == "s3://b/a b/t"


@pytest.mark.parametrize(
    "spelled", ["/data/t", "/data/t/", "file:/data/t", "file:///data/t/", "/data/x/../t"]
)
def test_a_folder_is_compared_by_its_path(spelled: str) -> None:
    assert location_spelling.comparable(spelled) == "/data/t"
    assert location_spelling.without_slash(spelled) == "/data/t"


def test_a_folder_is_absolute_and_a_bucket_url_stays_as_it_is() -> None:
    assert location_spelling.absolute("t") == os.path.join(os.getcwd(), "t")
    assert location_spelling.absolute("s3a://b/t/") == "s3a://b/t/"
    assert location_spelling.without_slash("s3a://b/t/") == "s3a://b/t"


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("file:/data/a%20b", "/data/a b"),
        ("file:///data/../t", "/data/../t"),
        ("/data/a%20b", "/data/a b"),
        ("s3a://b/%74", "s3://b/t"),
        ("gs://b/t", "gs://b/t"),
    ],
)
def test_a_path_of_a_log_is_compared_as_text(path: str, same: str) -> None:
    assert location_spelling.comparable_text(path) == same


def test_hadoop_and_stores_differ_about_s3_alone() -> None:
    assert [location_spelling.store_scheme(name) for name in ("s3a", "s3", "gs")] == ["s3", "s3", "gs"]
    assert [location_spelling.hadoop_scheme(name) for name in ("s3a", "s3", "gs")] == ["s3a", "s3a", "gs"]


@pytest.mark.parametrize(
    ("prefix", "location", "covered"),
    [
        ("s3://b/lake", "s3a://b/lake/", True),
        ("s3://b/lake/", "s3://b/lake/t%20x", True),
        ("s3://b/lake", "s3://b/lake2", False),
        ("s3://b/lake/t", "s3://b/lake", False),
        ("gs://b/lake", "s3://b/lake/t", False),
        ("/data", "file:///data/t", True),
    ],
)
def test_a_place_covers_what_lies_below_it(prefix: str, location: str, covered: bool) -> None:
    assert location_spelling.covers(prefix, location) is covered


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/data/a b/", "file:///data/a%20b"),
        ("file:///data/a%20b", "file:///data/a%20b"),
        ("s3://b/t/", "s3://b/t"),
    ],
)
def test_a_place_is_a_url_on_the_wire(location: str, url: str) -> None:
    assert location_spelling.location_url(location) == url
