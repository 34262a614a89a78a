"""How Spark names the files of a table."""

import pytest

from headgate.spark import paths


@pytest.mark.parametrize(
    ("location", "path", "uri"),
    [
        ("/lake/t", "x/part-0.parquet", "file:///lake/t/x/part-0.parquet"),
        ("/a b%20ü/t", "part.parquet", "file:///a%20b%2520%C3%BC/t/part.parquet"),
        ("file:///a%20b/t/", "part.parquet", "file:///a%20b/t/part.parquet"),
        ("/t", "s=a%2520b/part.parquet", "file:///t/s=a%2520b/part.parquet"),
        ("/t", "s=bare space/part.parquet", "file:///t/s=bare%20space/part.parquet"),
        ("/t", "file:/other/a%20b.parquet", "file:///other/a%20b.parquet"),
        ("/t", "/other/part.parquet", "file:///other/part.parquet"),
        ("/t", "file://localhost/other/a%20b.parquet", "file:///other/a%20b.parquet"),
        ("file://localhost/t", "part.parquet", "file:///t/part.parquet"),
        ("s3://bucket/t/", "x/part.parquet", "s3a://bucket/t/x/part.parquet"),
        ("s3://bucket/t", "s3://other/a%20b.parquet", "s3a://other/a%20b.parquet"),
        ("gs://bucket/t", "part.parquet", "gs://bucket/t/part.parquet"),
    ],
)
def test_a_path_of_the_log_becomes_a_uri(location: str, path: str, uri: str) -> None:
    assert paths.file_uris(location, [path]) == [uri]


@pytest.mark.parametrize(
    ("location", "folder"),
    [
        ("/a b%20/t", "file:/a b%20/t/new"),
        ("file:///a%20b/t", "file:/a b/t/new"),
        ("s3://bucket/a%20b/", "s3a://bucket/a b/new"),
    ],
)
def test_a_folder_to_write_is_named_without_encoding(location: str, folder: str) -> None:
    assert paths.folder(location, "new") == folder
