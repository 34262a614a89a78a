"""Which lake is meant, and which token it gets: by the command line, variables and files, in this order."""

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headgate.cli import configuration
from headgate.cli.configuration import Origin, Surroundings, TokenOrigin
from headgate.cli.main import app
from headgate.cli.options import with_lake_behind_command
from headgate.errors import InvalidRequest
from tests.support import postgresql
from tests.support.lakes import build_lake
from tests.support.tables import create_managed

SERVER = "https://lakes.example.com/main"


class Desk:
    """A user with a home, and a folder to work in."""

    def __init__(self, root: Path) -> None:
        self.home, self.folder = root / "home", root / "project" / "inner"
        for place in (self.home / ".config" / "headgate", self.folder):
            place.mkdir(parents=True)

    def around(self, environ: Mapping[str, str] | None = None, *, user: int | None = None) -> Surroundings:
        return Surroundings(environ or {}, self.folder, self.home, os.geteuid() if user is None else user)

    def user_file(self, text: str) -> None:
        (self.home / ".config" / "headgate" / "config.toml").write_text(text)

    def project_file(self, text: str) -> None:
        (self.folder.parent / "headgate.toml").write_text(text)

    def token_file(self, name: str, secret: str, mode: int = 0o600) -> Path:
        path = self.home / name
        path.write_text(f"{secret}\n")
        path.chmod(mode)
        return path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def chosen(around: Surroundings, named: str | None = None) -> tuple[str, Origin]:
    choice = configuration.choose_lake(named, around)
    return choice.place, choice.origin


def token(around: Surroundings, named: str | None = None) -> tuple[str, TokenOrigin] | None:
    found = configuration.find_token(configuration.choose_lake(named, around), around)
    return None if found is None else (found.secret, found.origin)


def test_who_says_more_directly_counts(desk: Desk) -> None:
    assert chosen(desk.around()) == ("lake", Origin.DEFAULT)
    desk.user_file(f'lake = "{SERVER}"')
    assert chosen(desk.around()) == (SERVER, Origin.USER)
    desk.project_file('lake = "data/lake"')
    assert chosen(desk.around()) == (str(desk.folder.parent / "data" / "lake"), Origin.FOLDER)
    variable = desk.around({"HEADGATE_LAKE": "other"})
    assert chosen(variable) == ("other", Origin.VARIABLE)
    assert chosen(variable, "named") == ("named", Origin.NAMED)


def test_the_user_has_a_file_elsewhere_if_xdg_says_so(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "xdg" / "headgate").mkdir(parents=True)
    (tmp_path / "xdg" / "headgate" / "config.toml").write_text(f'lake = "{SERVER}"')

    assert chosen(desk.around({"XDG_CONFIG_HOME": str(tmp_path / "xdg")})) == (SERVER, Origin.USER)


def test_a_token_comes_from_a_variable_a_file_or_the_server_of_the_user(desk: Desk) -> None:
    path = desk.token_file("lakes.token", "from-server")
    other = desk.token_file("other.token", "from-file")
    desk.user_file(f'lake = "{SERVER}"\n[servers."https://lakes.example.com"]\ntoken_file = "{path}"')

    assert token(desk.around()) == ("from-server", TokenOrigin.SERVER)
    by_file = {"HEADGATE_TOKEN_FILE": str(other)}
    assert token(desk.around(by_file)) == ("from-file", TokenOrigin.FILE_VARIABLE)
    both = by_file | {"HEADGATE_TOKEN": "from-variable"}
    assert token(desk.around(both)) == ("from-variable", TokenOrigin.VARIABLE)
    assert token(desk.around(), "https://elsewhere.example.com/main") is None
    assert token(desk.around(both), "lake") is None
    assert token(desk.around(both), "postgresql://db/lake") is None


def test_a_file_somebody_sent_does_not_get_the_token_of_the_environment(desk: Desk) -> None:
    desk.project_file('lake = "https://thief.example.com/main"')
    around = desk.around({"HEADGATE_TOKEN": "secret"})

    assert token(around) is None
    assert token(around, "https://thief.example.com/main") == ("secret", TokenOrigin.VARIABLE)


@pytest.mark.parametrize(
    "address",
    [
        "http://lakes.example.com/main",
        "https://lakes.example.com:8443/main",
        "https://lakes.example.com.thief.example/main",
        "https://lakes.example.com@thief.example/main",
    ],
)
def test_the_token_of_a_server_goes_to_that_server_alone(desk: Desk, address: str) -> None:
    path = desk.token_file("lakes.token", "secret")
    desk.user_file(f'[servers."https://lakes.example.com:443"]\ntoken_file = "{path}"')
    desk.project_file(f'lake = "{SERVER}"')

    assert token(desk.around()) == ("secret", TokenOrigin.SERVER)
    assert token(desk.around(), address) is None


@pytest.mark.skipif(os.name != "posix", reason="files have no owner and no mode here")
def test_a_token_that_others_can_read_is_refused(desk: Desk) -> None:
    path = desk.token_file("open.token", "secret", mode=0o640)

    with pytest.raises(InvalidRequest, match="chmod 600") as refused:
        token(desk.around({"HEADGATE_TOKEN_FILE": str(path)}), SERVER)
    assert "secret" not in str(refused.value)


@pytest.mark.skipif(os.name != "posix", reason="files have no owner and no mode here")
def test_a_file_of_another_user_is_not_obeyed(desk: Desk) -> None:
    desk.project_file('lake = "data"')
    if os.geteuid() == 0:
        os.chown(desk.folder.parent / "headgate.toml", 65_534, -1)
        around = desk.around()
    else:
        around = desk.around(user=os.geteuid() + 1)

    with pytest.raises(InvalidRequest, match="another user"):
        configuration.choose_lake(None, around)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lake = 7", "names no lake"),
        ("lke = 'x'", "'lke', which is not known"),
        ("lake =", "cannot be read"),
        ('[servers."https://x"]\ntoken_file = "t"', "in the file of the user alone"),
    ],
    ids=["no text", "a typo", "no TOML", "a server in a folder"],
)
def test_a_wrong_file_is_told_with_its_name(desk: Desk, text: str, said: str) -> None:
    desk.project_file(text)

    with pytest.raises(InvalidRequest, match=said) as refused:
        configuration.choose_lake(None, desk.around())
    assert "headgate.toml" in str(refused.value)


def test_every_command_finds_the_lake_of_the_folder(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    build_lake(desk.folder.parent / "data")
    desk.project_file('lake = "data"')
    monkeypatch.chdir(desk.folder)
    for variable in ("HEADGATE_LAKE", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(desk.home))

    for command in ("table list", "tables", "worker run --dry-run", "check", "recover --dry-run"):
        result = CliRunner().invoke(app, command.split())
        assert (result.exit_code, "sales.orders" in result.stdout) == (0, True), (command, result.output)


@pytest.mark.parametrize("first", [["--lake", "there"], ["--lake=there"]])
def test_the_lake_may_be_named_before_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: list[str]
) -> None:
    build_lake(tmp_path / "there")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADGATE_LAKE", "elsewhere")

    listed = CliRunner().invoke(app, [*first, "table", "list", "--json"])
    asked = CliRunner().invoke(app, [*first, "sql", "--help"])

    assert '"name": "sales.orders"' in listed.output, listed.output
    assert "Run SQL over a lake" in asked.output


@pytest.mark.parametrize("line", [[], ["table", "list"], ["--lake"], ["--lake", "x"], ["--lakes", "x", "y"]])
def test_other_lines_stay_as_they_are(line: list[str]) -> None:
    assert with_lake_behind_command(line) == line


def test_what_follows_two_dashes_stays_last() -> None:
    moved = with_lake_behind_command(["--lake", "shop", "table", "show", "--", "--odd"])

    assert moved == ["table", "show", "--lake", "shop", "--", "--odd"]


def test_a_lake_that_is_not_there_says_which_file_names_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.project_file('lake = "typo"')
    monkeypatch.chdir(desk.folder)
    monkeypatch.delenv("HEADGATE_LAKE", raising=False)

    result = CliRunner().invoke(app, ["table", "list"])

    assert result.exit_code == 3
    assert "headgate.toml" in result.stderr


def test_a_lake_in_postgresql_is_named_as_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres = postgresql.server()
    with postgres.database() as name:
        with closing(postgres.catalog(name, tmp_path / "warehouse")) as catalog:
            create_managed(catalog)
        (tmp_path / "headgate.toml").write_text(f'lake = "{postgres.url(name)}"')
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("HEADGATE_LAKE", raising=False)
        listed = CliRunner().invoke(app, ["table", "list"])
        shown = CliRunner().invoke(app, ["config", "show"])

    assert (listed.exit_code, "test.t" in listed.stdout) == (0, True), listed.output
    assert "postgresql://" in shown.stdout
