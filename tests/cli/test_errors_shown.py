"""How the command line says no: cause, fix and code on stderr, and an exit code to rely on."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.cli.main import app


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("command", [["tables"], ["history", "a.b"], ["show", "a.b"], ["publish"]])
def test_a_lake_that_is_not_there_is_not_made(tmp_path: Path, command: list[str]) -> None:
    folder = tmp_path / "nowhere"

    result = run(*command, "--lake", folder)

    assert result.exit_code == 3
    assert "does not exist" in result.stderr
    assert "headgate.connect(" in result.stderr
    assert "HEADGATE_LAKE_NOT_FOUND" in result.stderr
    assert result.stdout == ""
    assert not folder.exists()


def test_a_folder_that_is_no_lake_stays_none(tmp_path: Path) -> None:
    result = run("tables", "--lake", tmp_path)

    assert result.exit_code == 3
    assert "is not a lake" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["history", "show", "publish"])
def test_an_unknown_table_is_told_with_a_fix(tmp_path: Path, command: str) -> None:
    headgate.connect(tmp_path).close()

    result = run(command, "sales.nothing", "--lake", tmp_path)

    assert result.exit_code == 3
    assert "error: there is no table sales.nothing" in result.stderr
    assert "fix: headgate table list" in result.stderr
    assert "code: DELTA_TABLE_NOT_FOUND" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["table", "adopt", "nowhere", "sales.found"], "--convert"),
        (["table", "unset", "sales.orders", "x.nothing"], "--if-exists"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[1],
)
def test_an_argument_of_python_is_told_as_the_option_that_it_is(
    tmp_path: Path, command: list[str], option: str
) -> None:
    with headgate.connect(tmp_path) as lake:
        lake.create_schema("sales")
        lake.create_table("sales.orders", "id INT")

    for arguments in (command, [*command, "--json"]):
        said = run(*arguments, "--lake", tmp_path).stderr
        assert f"say {option}" in said and "=True" not in said


def test_a_name_without_a_schema_is_told_how_to_write_it(tmp_path: Path) -> None:
    headgate.connect(tmp_path).close()

    result = run("show", "orders", "--lake", tmp_path)

    assert result.exit_code == 1
    assert "schema.table" in result.stderr


def test_a_catalog_that_can_never_be_opened_is_not_to_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "catalog.sqlite").write_text("this is not a database, but it is long enough to look at")

    result = run("tables", "--lake", tmp_path)

    assert result.exit_code == 1
    assert "HEADGATE_DATABASE_UNUSABLE" in result.stderr and "again" not in result.stderr


@pytest.mark.parametrize(
    "arguments", [["history"], ["tables", "--nonsense"], ["show", "a.b", "--rows", "-1"]]
)
def test_wrong_usage_has_its_own_exit_code(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_what_others_wrote_into_a_lake_does_not_command_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x9b31m\u202egpj"
    with headgate.connect(tmp_path) as lake:
        lake.create_schema("s")
        lake.create_table("s.t", "id BIGINT", comment=hostile, domains={"d": hostile})

    for words in (
        "table show s.t",
        "domain list s.t",
        "domain get s.t d",
        "commit show s.t",
        f"table show {hostile}",
    ):
        result = run(*words.split(" "), "--lake", tmp_path)
        shown = result.stdout + result.stderr

        assert "owned" in shown, words
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown), words
