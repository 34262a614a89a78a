"""Which folder or bucket a location means, and that no other one is taken for it."""

from pathlib import Path

import pyarrow as pa
import pytest

import headgate
from headgate.errors import InvalidRequest
from headgate.spark.session import hadoop_paths
from headgate.storage.locate import locate
from headgate.storage.location_spelling import is_local, local_path


@pytest.mark.parametrize("mark", ["#", "?"])
def test_a_file_url_is_not_cut_at_a_mark_that_urls_use(tmp_path: Path, mark: str) -> None:
    """Else a table would be made, read or deleted from in a folder that nobody named."""
    url = f"file://{tmp_path}/a{mark}b"

    for use in (local_path, locate, lambda place: headgate.at_path(place, columns="id BIGINT")):
        with pytest.raises(InvalidRequest, match="%3F and %23"):
            use(url)

    assert list(tmp_path.iterdir()) == []
    assert local_path(url.replace(mark, f"%{ord(mark):X}")) == str(tmp_path / f"a{mark}b")
    assert local_path(str(tmp_path / f"a{mark}b")) == str(tmp_path / f"a{mark}b")


@pytest.mark.parametrize("place", ["/tmp/a\0b", "//[a/b", "s3://[a/b"])
def test_what_is_no_place_at_all_is_refused_by_name(place: str) -> None:
    for use in (is_local, local_path, locate, headgate.at_path):
        with pytest.raises(InvalidRequest, match="is not a place"):
            use(place)


@pytest.mark.parametrize("host", ["", "localhost", "LocalHost"])
def test_a_file_url_may_name_this_machine(tmp_path: Path, host: str) -> None:
    assert local_path(f"file://{host}{tmp_path}/t") == str(tmp_path / "t")
    assert headgate.at_path(f"file://{host}{tmp_path}/t", columns="id BIGINT").location == str(tmp_path / "t")


@pytest.mark.parametrize("url", ["file://example.org/lake/t", "file://data/t"])
def test_a_file_url_of_another_machine_is_refused(url: str) -> None:
    """Such as one with two slashes before a relative path, which would be a folder of the root."""
    for use in (local_path, locate, headgate.at_path, headgate.connect):
        with pytest.raises(InvalidRequest, match="is a folder of the machine"):
            use(url)
    with pytest.raises(InvalidRequest, match="is a folder of the machine"):
        hadoop_paths.file_uris("/t", pa.array([f"{url}/part.parquet"]))
