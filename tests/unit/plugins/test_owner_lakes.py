"""Where does the conf of a coordinator make a lake? Where a user says so, never where a table does (T19).

The conf is stored in the table, so whoever wrote its log chose the place, and others open the table.
"""

import shutil
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import headgate
from headgate import coordinators
from headgate.errors import CatalogUnavailable, HeadgateError
from headgate.plugins import coordinators as owners
from headgate.settings import Settings
from tests.support import postgresql

PUBLISHED = Settings(read_published=True)


def owned_table(folder: Path, lake: str) -> Path:
    """A table of a coordinator, in whose log somebody wrote another lake."""
    place, first = folder / "table", str(folder / "first")
    headgate.at_path(place, columns="id BIGINT", owner=("headgate", {"lake": first}))
    log = place / "_delta_log" / f"{0:020d}.json"
    log.write_text(log.read_text().replace(first, lake))
    shutil.rmtree(first)
    return place


def _open(place: Path) -> None:
    headgate.at_path(place)


def _open_published(place: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        headgate.at_path(place, settings=PUBLISHED)


def _append(place: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        headgate.at_path(place, settings=PUBLISHED).append([{"id": 1}])


def _check(place: Path) -> None:
    headgate.check_path(place, repair=True)


def _take_back(place: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        headgate.at_path(place, settings=PUBLISHED).force_uncoordinate("headgate")


@pytest.mark.parametrize("use", [_open, _open_published, _append, _check, _take_back])
def test_what_a_table_names_is_not_made(tmp_path: Path, use: Callable[[Path], None]) -> None:
    chosen = tmp_path / "chosen" / "by a stranger"
    place = owned_table(tmp_path, str(chosen))

    try:
        use(place)
    except HeadgateError:
        assert use in {_open, _append}  # the rest does without the owner

    assert not chosen.parent.exists()


def test_the_advice_is_that_of_an_owner_that_is_lost(tmp_path: Path) -> None:
    place = owned_table(tmp_path, str(tmp_path / "nowhere"))

    with pytest.raises(CatalogUnavailable, match=r"nowhere.*read_published=True.*force_uncoordinate"):
        headgate.at_path(place)


@pytest.mark.parametrize("content", [b"", b"my notes", None], ids=["empty", "text", "another database"])
def test_what_is_no_lake_stays_as_it_is(tmp_path: Path, content: bytes | None) -> None:
    chosen = tmp_path / "50% of #1?"
    chosen.mkdir()
    file = chosen / "catalog.sqlite"
    if content is None:
        with sqlite3.connect(file) as db:
            db.execute("CREATE TABLE mine (id INT)")
    else:
        file.write_bytes(content)
    before = file.read_bytes()

    with pytest.raises(CatalogUnavailable):
        headgate.at_path(owned_table(tmp_path, str(chosen)))

    assert list(chosen.iterdir()) == [file]
    assert file.read_bytes() == before


def test_a_lake_that_is_there_is_found_by_who_never_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = {"lake": str(tmp_path / "50% of #1?" / "lake")}
    headgate.at_path(tmp_path / "t", columns="id BIGINT", owner=("headgate", conf)).append([{"id": 1}])
    monkeypatch.setattr(owners, "_COORDINATORS", owners.Coordinators())  # as in another process

    opened = headgate.at_path(tmp_path / "t")

    assert opened.append([{"id": 2}]) == 2
    shutil.rmtree(conf["lake"])
    monkeypatch.setattr(owners, "_COORDINATORS", owners.Coordinators())
    with pytest.raises(CatalogUnavailable):
        headgate.at_path(tmp_path / "t")
    assert not Path(conf["lake"]).exists()


def test_a_user_may_have_a_lake_made(tmp_path: Path) -> None:
    lake, other = tmp_path / "lake", tmp_path / "other"
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")

    table.coordinate("headgate", {"lake": str(lake)})
    coordinators.find("headgate", {"lake": str(other)})

    assert (lake / "catalog.sqlite").exists()
    assert (other / "catalog.sqlite").exists()


def test_a_database_that_a_table_names_gets_no_schema() -> None:
    url = postgresql.server().url("postgres")

    with pytest.raises(CatalogUnavailable, match="there is no lake"):
        owners.find_existing("headgate", {"lake": url})
