"""What a table demands or says that Headgate has never heard of."""

import os
from pathlib import Path

import pytest

from headgate.errors import UnsupportedFeature
from headgate.protocol.actions import DomainMetadata, EpochMillis, Protocol, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from headgate.table.read.change_files import VersionRange
from tests.support.commits import add, metadata
from tests.support.tables import append_change, create_filesystem, named_file, open_filesystem
from tests.support.versions import paths


def with_line(folder: Path, version: int, *lines: str) -> OpenedTable:
    """An ordinary table with these lines as a further version."""
    (folder / file_names.published_path(Version(version))).write_text("".join(f"{line}\n" for line in lines))
    return open_filesystem(str(folder))


def protocol(reader: int, writer: int, readers: str = "", writers: str = "") -> str:
    found = Protocol(
        min_reader_version=reader,
        min_writer_version=writer,
        reader_features=tuple(readers.split()) if reader >= 3 else None,
        writer_features=tuple(writers.split()) if writer >= 7 else None,
    )
    return codec.encode((found,)).decode().strip()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (protocol(3, 7, "timestampNtz quantumFiles", "timestampNtz quantumFiles"), "quantumFiles"),
        (protocol(4, 7), r"\(4, 7\)"),
    ],
    ids=["feature", "version"],
)
def test_what_readers_must_know_and_we_do_not_refuses_reading(tmp_path: Path, line: str, named: str) -> None:
    """S328, S329"""
    create_filesystem(locate(str(tmp_path)))
    table = with_line(tmp_path, 1, line)

    with pytest.raises(UnsupportedFeature, match=named) as caught:
        table.snapshot()

    assert "timestampNtz" not in caught.value.message


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (protocol(1, 7, writers="quantumWrites"), "quantumWrites"),
        (protocol(1, 8), r"\(1, 8\)"),
    ],
    ids=["feature", "version"],
)
def test_what_only_writers_must_know_refuses_writing(tmp_path: Path, line: str, named: str) -> None:
    """S328, S329"""
    create_filesystem(locate(str(tmp_path)))
    table = with_line(tmp_path, 1, line)
    with_line(tmp_path, 2, codec.encode((add("theirs"),)).decode().strip())

    assert paths(table) == ["theirs"]
    with pytest.raises(UnsupportedFeature, match=named):
        table.commit(append_change(named_file("ours")), base=table.snapshot())
    assert not (tmp_path / file_names.published_path(Version(3))).exists()


BEYOND_US = protocol(3, 7, "quantumFiles", "quantumFiles")
WITHIN = protocol(1, 2)


@pytest.mark.parametrize("latest", [BEYOND_US, protocol(4, 7)], ids=["feature", "version"])
def test_a_latest_version_beyond_us_does_not_hide_the_older_ones(tmp_path: Path, latest: str) -> None:
    """S328, S329: what counts is what the asked version demands."""
    create_filesystem(locate(str(tmp_path)))
    with_line(tmp_path, 1, codec.encode((add("old"),)).decode().strip())
    before = locate(str(tmp_path)).head(file_names.published_path(Version(1))).modified_ms
    table = with_line(tmp_path, 2, latest)
    os.utime(tmp_path / file_names.published_path(Version(2)), ns=(2 * before * 10**6, 2 * before * 10**6))

    assert paths(table, 1) == ["old"]
    assert table.snapshot(timestamp=EpochMillis(before + 1)).version == 1
    for ask in (table.snapshot, lambda: table.snapshot(version=2), table.newest_known, table.history):
        with pytest.raises(UnsupportedFeature):
            ask()


def test_an_older_version_beyond_us_is_refused_alone(tmp_path: Path) -> None:
    """S328: protocols may lose features again."""
    create_filesystem(locate(str(tmp_path)))
    with_line(tmp_path, 1, BEYOND_US, codec.encode((add("theirs"),)).decode().strip())
    with_line(tmp_path, 2, '{"remove":{"path":"theirs","dataChange":true}}')
    table = with_line(tmp_path, 3, WITHIN, codec.encode((add("ours"),)).decode().strip())

    assert [paths(table, version) for version in (0, 3, None)] == [[], ["ours"], ["ours"]]
    for version in (1, 2):
        with pytest.raises(UnsupportedFeature, match="quantumFiles"):
            table.snapshot(version=version)
    assert table.commit(append_change(named_file("more")), base=table.snapshot()) == 4


def test_a_version_beyond_us_among_changes_is_refused(tmp_path: Path) -> None:
    """S328: its files may not be what they seem."""
    feed = codec.encode((metadata(delta_enableChangeDataFeed="true"),)).decode().strip()
    create_filesystem(locate(str(tmp_path)))
    with_line(tmp_path, 1, feed)
    with_line(tmp_path, 2, BEYOND_US, codec.encode((add("theirs"),)).decode().strip())
    table = with_line(tmp_path, 3, WITHIN)

    assert [change.version for change in table.changes(VersionRange(1, 1))[1]] == [1]
    assert [change.version for change in table.changes(VersionRange(3))[1]] == [3]
    with pytest.raises(UnsupportedFeature, match="quantumFiles"):
        table.changes(VersionRange(1))


def test_what_nobody_told_us_about_is_tolerated_and_a_domain_is_kept(tmp_path: Path) -> None:
    """S330"""
    create_filesystem(locate(str(tmp_path)))
    table = with_line(
        tmp_path,
        1,
        '{"commitInfo":{"operation":"DREAM","mood":{"colour":"blue"},"readVersion":0}}',
        '{"quantumLeap":{"to":1}}',
        '{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"spin":[1]}}',
        '{"domainMetadata":{"domain":"acme.unheard","configuration":"{\\"x\\":1}","removed":false,"by":"me"}}',
    )

    opened = table.snapshot()
    table.commit(append_change(named_file("b")), base=opened)

    kept = {"acme.unheard": DomainMetadata(domain="acme.unheard", configuration='{"x":1}', removed=False)}
    assert dict(opened.state.domains) == kept
    assert dict(open_filesystem(str(tmp_path)).snapshot().state.domains) == kept
    assert paths(table) == ["a", "b"]
