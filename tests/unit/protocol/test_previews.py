"""Tables under the names that features had before they were finished (S336)."""

from dataclasses import replace
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.errors import InvalidRequest, UnsupportedFeature, UserError
from headgate.protocol import table_features
from headgate.protocol.actions import CommitInfo, EpochMillis, Protocol, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from tests.support.commits import PROTOCOL, add, metadata
from tests.support.proposals import inline
from tests.support.tables import NAME, ON_DEMAND, append_change, named_file, open_filesystem, open_managed
from tests.support.versions import paths

PREVIEW = "catalogOwned-preview"
ASKED = replace(ON_DEMAND, read_previews=frozenset({PREVIEW}))
OWNED = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=(PREVIEW, "vacuumProtocolCheck"),
    writer_features=(PREVIEW, "inCommitTimestamp", "vacuumProtocolCheck"),
)


def owned(folder: Path) -> tuple[Catalog, str]:
    """A table as Delta 4.0.0 made it, in a catalog, with one commit that nobody published."""
    catalog = open_catalog(folder)
    catalog.create_schema(NAME.schema)
    staging = catalog.stage(NAME)
    info = CommitInfo(in_commit_timestamp=EpochMillis(5), txn_id=TxnId("zero"))
    stamps = metadata(delta_enableInCommitTimestamps="true")
    locate(staging.location).put(file_names.published_path(Version(0)), codec.encode((info, OWNED, stamps)))
    catalog.register(staging, NAME)
    catalog.propose(inline(staging.table_id, 1, "one"))
    return catalog, staging.location


def test_a_table_owned_by_a_catalog_under_the_old_name_is_found_and_read_if_asked(tmp_path: Path) -> None:
    """S336"""
    catalog, location = owned(tmp_path)
    entry = catalog.resolve(NAME)

    table = open_managed(catalog, entry.table_id, location, settings=ASKED)

    assert [found.name for found in catalog.tables()] == [NAME]
    assert paths(table) == ["one.parquet"]
    assert [entry.version for entry in table.history()] == [1, 0]


def test_a_preview_is_not_read_by_accident(tmp_path: Path) -> None:
    """S336"""
    catalog, location = owned(tmp_path)
    table = open_managed(catalog, catalog.resolve(NAME).table_id, location)

    for version in (None, 0):
        with pytest.raises(UnsupportedFeature, match=rf"read_previews=.*{PREVIEW}") as caught:
            table.snapshot(version=version)
        assert caught.value.fields["features"] == (PREVIEW,)


def test_a_preview_is_never_written(tmp_path: Path) -> None:
    """S336: not even by who asked to read it."""
    catalog, location = owned(tmp_path)
    table = open_managed(catalog, catalog.resolve(NAME).table_id, location, settings=ASKED)

    with pytest.raises(UnsupportedFeature, match=PREVIEW) as caught:
        table.commit(append_change(named_file("2")), base=table.snapshot())

    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
    assert table.snapshot().version == 1


@pytest.mark.parametrize("settings", [ON_DEMAND, ASKED], ids=["unasked", "asked"])
def test_a_preview_does_not_open_a_way_around_the_catalog(tmp_path: Path, settings: object) -> None:
    """S336, S118: by its path its latest version cannot be known."""
    _, location = owned(tmp_path)

    with pytest.raises(InvalidRequest, match="managed by a catalog"):
        open_filesystem(location, settings=settings).snapshot()  # type: ignore[arg-type]


COORDINATED = pytest.mark.parametrize(
    ("feature", "key"),
    [
        ("coordinatedCommits-preview", "delta.coordinatedCommits.commitCoordinator-preview"),
        ("managedCommit-preview", "delta.managedCommit.commitOwner-preview"),
        ("managed-commit-preview", "delta.managedCommits.commitOwner-preview"),
        ("managed-commit-dev", "delta.managedCommits.commitOwner-dev"),
        ("managedCommit", "delta.managedCommit.commitOwner"),
    ],
)


def coordinated(folder: Path, protocol: Protocol, **configuration: str) -> OpenedTable:
    """Versions 0 and 1 are published; what was proposed to a coordinator lies in two folders."""
    store = locate(str(folder))
    info = CommitInfo(in_commit_timestamp=EpochMillis(5), txn_id=TxnId("one"))
    store.put(
        file_names.published_path(Version(0)), codec.encode((info, protocol, metadata(**configuration)))
    )
    store.put(file_names.published_path(Version(1)), codec.encode((info, add("1"))))
    for place in ("_commits", "_staged_commits"):
        path = f"{file_names.LOG_FOLDER}{place}/{2:020d}.80a083e8-7026-4e79-81be-64bd76c43a11.json"
        store.put(path, codec.encode((add(f"in {place}"),)))
    return open_filesystem(str(folder))


def writers_need(*features: str) -> Protocol:
    check = ("vacuumProtocolCheck",)
    return Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=check,
        writer_features=("inCommitTimestamp", *check, *features),
    )


@COORDINATED
def test_a_coordinated_table_is_read_as_far_as_it_is_published(
    tmp_path: Path, feature: str, key: str
) -> None:
    """S336, S138"""
    table = coordinated(tmp_path, writers_need(feature), **{key.replace(".", "_"): "dynamodb"})

    assert paths(table) == ["1"]
    assert [entry.version for entry in table.history()] == [1, 0]


@COORDINATED
def test_a_write_past_a_coordinator_is_refused_by_its_name(tmp_path: Path, feature: str, key: str) -> None:
    """S336, S138: also where the protocol forgot to say so (E10)."""
    stamps = {"delta_enableInCommitTimestamps": "true", key.replace(".", "_"): "dynamodb"}
    codes = {
        "DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR": writers_need(feature),
        "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH": writers_need(),
    }
    for code, protocol in codes.items():
        folder = tmp_path / code
        table = coordinated(folder, protocol, **stamps)

        with pytest.raises(UserError, match=rf"'dynamodb' \({key}\)|need {feature}") as caught:
            table.commit(append_change(named_file("2")), base=table.snapshot())

        assert caught.value.code == code
        assert not (folder / file_names.published_path(Version(2))).exists()


@COORDINATED
def test_a_table_that_names_no_coordinator_is_an_ordinary_one(tmp_path: Path, feature: str, key: str) -> None:
    """S336, S130: that is what a released table is until the feature is dropped too."""
    table = coordinated(tmp_path, writers_need(feature))

    assert table.commit(append_change(named_file("2")), base=table.snapshot()) == 2


def test_the_settings_of_a_coordinator_alone_name_nobody() -> None:
    told = metadata(**{"delta_coordinatedCommits_commitCoordinatorConf-preview": "{}"})

    table_features.check_writable(PROTOCOL, told)
