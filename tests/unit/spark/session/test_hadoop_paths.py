"""How Spark names the files of a table."""

import pyarrow as pa
import pytest

from headgate.errors import CorruptLog
from headgate.protocol.actions import DeletionVector
from headgate.protocol.log import deletion_vectors
from headgate.spark.session import hadoop_paths
from headgate.table.read import file_paths


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
    for others in (["a/b.parquet"], []):
        found = hadoop_paths.file_uris(location, pa.array([path, *others], pa.string()))
        assert found[0].as_py() == uri
        assert [other.as_py().endswith("/a/b.parquet") for other in found[1:]] == [True] * len(others)


@pytest.mark.parametrize(
    ("location", "folder"),
    [
        ("/a b%20/t", "file:/a b%20/t/new"),
        ("file:///a%20b/t", "file:/a b/t/new"),
        ("s3://bucket/a%20b/", "s3a://bucket/a b/new"),
    ],
)
def test_a_folder_to_write_is_named_without_encoding(location: str, folder: str) -> None:
    assert hadoop_paths.folder(location, "new") == folder


@pytest.mark.parametrize(
    "path", ["../x", "a/../../x", "%2e%2e/x", "%2E%2E%2Fx", "./../x", "a//../../x", "..%5Cx", ".."]
)
@pytest.mark.parametrize("location", ["/lake/t", "s3://bucket/t"])
def test_a_relative_path_that_leads_out_of_the_table_is_refused(location: str, path: str) -> None:
    """In somebody else's log it would have us read what they choose."""
    with pytest.raises(CorruptLog, match="leads out"):
        hadoop_paths.file_uris(location, pa.array(["a", path]))
    with pytest.raises(CorruptLog, match="leads out"):
        file_paths.object_uri(location, path)


@pytest.mark.parametrize("path", ["a/../b", "..a/b", "a../b", "%252e%252e/b", "day=%2F..%2Fx/b", "/etc/x"])
def test_what_only_looks_like_it_is_read(path: str) -> None:
    assert len(hadoop_paths.file_uris("/lake/t", pa.array([path]))) == 1


def test_the_file_of_a_deletion_vector_is_in_the_table() -> None:
    vector = DeletionVector(
        storage_type="u", path_or_inline_dv="../x" + "a" * 20, size_in_bytes=1, cardinality=1
    )

    with pytest.raises(CorruptLog, match="leads out"):
        deletion_vectors.vector_location(vector)
