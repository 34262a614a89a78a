"""What is asked for and is not there: which code it ends with, and in whose words help is offered."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.cli.main import app
from tests.support.lakes import build_lake


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "lake"
    build_lake(place)
    monkeypatch.setenv("HEADGATE_LAKE", str(place))
    return place


def _run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("line", "code", "advice"),
    [
        ("table undrop sales.orders", 3, "headgate table dropped"),
        ("table purge sales.orders --yes", 3, "headgate table dropped"),
        ("check --path .", 3, "name the folder that has the _delta_log"),
        ("table adopt . sales.found", 3, "name the folder that has the _delta_log"),
        ("table show sales.nothing", 3, "headgate table list lists"),
        ("table create nope.t 'id BIGINT'", 3, "headgate schema create nope"),
        ("table rows sales.orders --where abs(id)=1", 1, "or use headgate sql"),
        ("schema drop nope", 3, "there is no schema 'nope'"),
        ("group remove analysts nobody", 3, "'nobody' is no member of 'analysts'"),
        ("token create dave --schema nope", 3, "there is no schema 'nope'"),
        ("grant add READ --to group: --on sales", 2, "names no group"),
        ("grant revoke READ --from group: --on sales", 2, "names no group"),
        ("table set sales.orders delta.apendOnly=true", 1, "did you mean 'delta.appendOnly'?"),
    ],
)
def test_what_is_not_there_is_told_in_the_words_of_commands(
    lake: Path, line: str, code: int, advice: str
) -> None:
    words = [word.strip("'") for word in line.replace("'id BIGINT'", "'id_BIGINT'").split()]

    result = _run(*(word.replace("id_BIGINT", "id BIGINT") for word in words))

    assert (result.exit_code, advice in result.stderr) == (code, True), result.stderr
    assert not [word for word in ("lake.", "table.read", "headgate.at_path") if word in result.stderr]


def test_no_token_is_made_for_a_schema_that_is_not_there(lake: Path) -> None:
    assert "no token is good" in _run("token", "list").stdout
    _run("token", "create", "dave", "--schema", "nope")

    assert "no token is good" in _run("token", "list").stdout
    assert _run("token", "create", "dave", "--schema", "SALES").exit_code == 0


@pytest.mark.parametrize("where", ["id = ", "(id = 1", "id = 1 and", "id 1"])
def test_a_syntax_error_is_told_as_one(lake: Path, where: str) -> None:
    result = _run("table", "rows", "sales.orders", "--where", where)

    assert result.exit_code == 1
    assert "syntax error" in result.stderr
    assert "code: PARSE_SYNTAX_ERROR" in result.stderr


def test_a_name_that_is_near_no_other_is_not_taken_for_one(lake: Path) -> None:
    assert "did you mean" not in _run("table", "set", "sales.orders", "delta.nonsense=1").stderr


def test_who_decided_from_an_older_version_is_told_to_look_again(lake: Path) -> None:
    _run("domain", "set", "sales.orders", "d", "x")

    result = _run("domain", "set", "sales.orders", "d", "y", "--since", "0")

    assert result.exit_code == 5
    assert "headgate domain get" in result.stderr
    assert "fix: nothing was committed; run the command again" not in result.stderr


def test_a_missing_lake_is_made_with_a_command(tmp_path: Path) -> None:
    result = _run("table", "list", "--lake", tmp_path / "none")

    assert f"headgate server run {tmp_path / 'none'} --create" in result.stderr


def test_the_page_of_a_lake_is_not_its_address(tmp_path: Path) -> None:
    result = _run("table", "list", "--lake", "http://127.0.0.1:9/below/console/lakes/main/tables")

    assert result.exit_code == 1
    assert "the lake is at http://127.0.0.1:9/below/main" in result.stderr


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/main", "uc+http://127.0.0.1:9/main"])
def test_an_address_says_how_a_token_is_given(address: str) -> None:
    result = _run("table", "list", "--lake", f"{address}?token=abc")

    assert "token=***" not in result.stderr
    assert "as the argument named so" in " ".join(result.stderr.split())


# --- purge


def _drop(lake: Path) -> str:
    with headgate.connect(lake) as opened:
        opened.table("sales.orders").publish()
        opened.drop_table("sales.orders")
        return opened.dropped()[0].table_id


def test_programs_are_not_asked_whether_they_mean_it(lake: Path) -> None:
    _drop(lake)

    result = _run("table", "purge", "sales.orders", "--json")

    assert result.stdout == ""
    assert "--yes" in json.loads(result.stderr)["error"]


def test_nobody_is_asked_about_what_was_not_dropped(lake: Path) -> None:
    told = _run("table", "purge", "sales.orders", "--json")
    asked = _run("table", "purge", "sales.orders")

    assert (told.exit_code, asked.exit_code) == (3, 3)
    assert json.loads(told.stderr)["code"] == "DELTA_TABLE_NOT_FOUND"
    assert "cannot be undone" not in asked.stderr


def test_a_purge_tells_the_id_and_leaves_no_folder(lake: Path) -> None:
    table_id = _drop(lake)
    (place,) = (each for each in (lake / "warehouse").iterdir() if each.name == table_id)

    result = _run("table", "purge", "sales.orders", "--json", "--yes", "--files")

    assert json.loads(result.stdout) == {"table": "sales.orders", "id": table_id, "filesDeleted": True}
    assert not place.exists()


# --- rows and names


@pytest.mark.parametrize(
    ("options", "last"),
    [
        ({}, "5 of 5 rows of version 2"),
        ({"--limit": "2"}, "2 of 5 rows of version 2"),
        ({"--version": "1"}, "3 of 3 rows of version 1"),
        ({"--where": "id > 4"}, "1 row of version 2"),
    ],
)
def test_rows_say_of_how_many_they_are(lake: Path, options: Mapping[str, str], last: str) -> None:
    words = [word for option in options.items() for word in option]

    assert _run("table", "rows", "sales.orders", *words).stdout.splitlines()[-1] == last


def test_a_new_name_is_told_as_the_list_has_it(lake: Path) -> None:
    text = _run("table", "rename", "sales.stock", "sales.STOCK2").stdout
    answer = json.loads(_run("table", "rename", "sales.stock2", "sales.STOCK3", "--json").stdout)

    assert text == "sales.stock is called sales.stock2\n"
    assert answer["to"] == "sales.stock3"


def test_a_list_that_is_empty_says_so(lake: Path) -> None:
    assert _run("commit", "list", "sales.orders", "--before", "0").stdout == (
        "no commit of sales.orders before version 0\n"
    )
    assert "there is no group" in _run("group", "list").stdout


# --- configuration


def test_who_named_the_lake_is_one_of_two(lake: Path) -> None:
    by_variable, by_option = _run("config", "show", "--json"), _run("config", "show", "--lake", "x", "--json")

    assert json.loads(by_variable.stdout)["origin"] == "HEADGATE_LAKE"
    assert json.loads(by_option.stdout)["origin"] == "the command line"


@pytest.mark.parametrize("is_link", [True, False])
def test_a_file_of_configuration_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_link: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_LAKE", raising=False)
    file = tmp_path / "headgate.toml"
    if is_link:
        file.symlink_to(tmp_path / "nowhere")
    else:
        file.mkdir()

    result = _run("config", "show")

    assert result.exit_code == 1
    assert str(file) in result.stderr.replace("\n", "")


def test_a_server_of_the_configuration_has_a_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "headgate").mkdir()
    (tmp_path / "headgate" / "config.toml").write_text('[servers."127.0.0.1:1"]\ntoken_file = "t"\n')

    result = _run("config", "show", "--lake", "http://127.0.0.1:1/main")

    assert result.exit_code == 1
    assert "write it with http:// or https://" in result.stderr
