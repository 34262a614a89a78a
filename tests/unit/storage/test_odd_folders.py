"""Folders whose names have marks that URLs give a meaning: each is its own place, and nobody else's."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest
from sqlalchemy import make_url

import headgate
from headgate.catalog import targets
from headgate.catalog.database import postgresql, schema_upgrade
from headgate.errors import InvalidRequest
from headgate.storage.locate import locate
from headgate.storage.location_spelling import is_local, local_path
from headgate.storage.store import Store
from headgate.table.read import file_paths
from tests.support.faulty_store import DictStore
from tests.support.tables import append_change, named_file

ODD = (
    "a?b", "a%b", "a%20b", "a%3Fb", "a#b", "a b", "a+b", "ä☃", "a;b", "a@b", "a:b", "a&b=c", "a[1]", "a*",
    "{a}", "a'b", 'a"b', "$a", "~a", " a", "a\\b", "?mode=memory", ":memory:",
)  # fmt: skip
_VERSIONS = """
import sys, headgate
with headgate.connect(sys.argv[1]) as lake:
    print(lake.table("s.t").version(), headgate.at_path(sys.argv[2]).version())
"""


def _append(table: headgate.Table) -> None:
    table.log.commit(append_change(named_file("x")), base=table.log.snapshot())


@pytest.mark.parametrize("name", ODD)
def test_a_lake_and_its_database_are_in_the_folder_that_was_named(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    with headgate.connect(folder) as lake:
        lake.create_schema("s")
        _append(lake.create_table("s.t", "id BIGINT"))

    assert os.listdir(tmp_path) == [name]
    assert "catalog.sqlite" in os.listdir(folder)
    with headgate.connect(str(folder)) as again:
        assert again.table("s.t").version() == 1
        assert again.check("s.t", data=False)[0].is_clean


@pytest.mark.parametrize("name", ["a?b", "a%3Fb#c", "ä ;:@+"])
def test_another_process_finds_what_is_in_such_a_folder(tmp_path: Path, name: str) -> None:
    with headgate.connect(tmp_path / name / "lake") as lake:
        lake.create_schema("s")
        _append(lake.create_table("s.t", "id BIGINT"))
    _append(headgate.at_path(tmp_path / name / "t", columns="id BIGINT"))

    program = [sys.executable, "-c", _VERSIONS, str(tmp_path / name / "lake"), str(tmp_path / name / "t")]

    assert subprocess.run(program, check=True, capture_output=True, text=True).stdout == "1 1\n"


def test_lakes_whose_names_begin_alike_share_nothing(tmp_path: Path) -> None:
    for name in ("a", "a?x", "a?y", "a#x", "a%3Fx", "a%78", "ax"):
        with headgate.connect(tmp_path / name) as lake:
            assert lake.tables() == ()
            lake.create_schema("s")
            lake.create_table("s.t", "id BIGINT")


@pytest.mark.parametrize("name", ["a?b", "a%3Fb", "?mode=memory", "ä ;:@+#"])
def test_a_commit_owner_keeps_its_ledger_in_the_folder_that_was_named(tmp_path: Path, name: str) -> None:
    conf = {"lake": str(tmp_path / name)}
    headgate.connect(tmp_path / name).close()

    table = headgate.at_path(tmp_path / f"t{name}", columns="id BIGINT", owner=("headgate", conf))
    _append(table)

    assert sorted(os.listdir(tmp_path)) == sorted([name, f"t{name}"])
    assert headgate.at_path(tmp_path / f"t{name}").version() == 1


@pytest.mark.parametrize("name", ODD)
def test_a_relative_folder_with_such_a_name_is_one_of_this_disk(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert is_local(name)
    assert local_path(name) == str(tmp_path / name)
    _append(headgate.at_path(name, columns="id BIGINT"))
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("root", ["file:///lake", "s3://bucket/lake"])
def test_a_file_elsewhere_is_looked_for_in_the_very_folder_it_is_in(root: str, name: str) -> None:
    asked: list[str] = []

    def located(place: str) -> Store:
        asked.append(place)
        return DictStore()

    file_paths.locate_object(DictStore(), "/t", f"{root}/{quote(name)}/p.parquet", located)

    if root.startswith("file:"):
        assert asked == [f"/lake/{name}"]
    else:
        (place,) = map(urlsplit, asked)
        assert (place.query, place.fragment, unquote(place.geturl())) == ("", "", f"{root}/{name}")


@pytest.mark.parametrize("mark", "?#")
def test_a_bucket_url_is_not_cut_at_a_mark_that_urls_use(mark: str) -> None:
    for use in (locate, headgate.at_path):
        with pytest.raises(InvalidRequest, match="%3F and %23"):
            use(f"s3://bucket/a{mark}b")


@pytest.mark.parametrize("mark", "?%#@:/ +;ä")
def test_a_password_may_have_any_character_if_it_is_encoded(mark: str) -> None:
    url = make_url("postgresql://u@h:1/d").set(password=f"x{mark}y").render_as_string(hide_password=False)

    parsed = postgresql.parse_url(url)

    assert (parsed.password, parsed.host, parsed.database) == (f"x{mark}y", "h", "d")
    assert mark == "/" or f"x{mark}y" not in targets.without_password(url)


def test_the_schema_is_found_wherever_headgate_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_upgrade, "_MIGRATIONS", "/opt/100%/a?b#c/migrations")

    assert schema_upgrade._config().get_main_option("script_location") == "/opt/100%/a?b#c/migrations"
