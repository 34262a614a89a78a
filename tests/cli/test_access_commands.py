"""``headgate grant``, ``revoke``, ``grants``, ``group`` and ``token``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.catalog.ports.access import Privilege
from headgate.cli.lazy_commands import COMMANDS
from headgate.cli.main import app
from headgate.errors import NotAuthenticated
from tests.support.lakes import build_lake


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    build_lake(tmp_path / "lake")
    return tmp_path / "lake"


def run(lake: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--lake", str(lake)])


def done(lake: Path, *arguments: str) -> str:
    result = run(lake, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_is_granted_is_listed_until_it_is_revoked(lake: Path) -> None:
    assert "nothing was granted" in done(lake, "grants")

    assert done(lake, "grant", "append", "--on", "sales.orders", "--to", "ana").strip() == (
        "ana has APPEND on sales.orders"
    )
    done(lake, "grant", "read", "--to", "group:analysts")

    (first, second) = json.loads(done(lake, "grants", "--json"))
    assert (first["principal"], first["privilege"], first["on"]) == ("ana", "APPEND", "sales.orders")
    assert (second["principal"], second["on"]) == ("group:analysts", "lake")
    assert done(lake, "grants").splitlines()[1].split() == ["ana", "APPEND", "sales.orders", "owner"]
    assert "no more" in done(lake, "revoke", "append", "--on", "sales.orders", "--from", "ana")
    assert "nothing changed" in done(lake, "revoke", "append", "--on", "sales.orders", "--from", "ana")


def test_members_of_a_group_are_added_listed_and_removed(lake: Path) -> None:
    done(lake, "group", "add", "analysts", "ana")

    assert json.loads(done(lake, "group", "list", "--json")) == [
        {"name": "group:analysts", "members": ["ana"]}
    ]
    assert "is no member" in done(lake, "group", "remove", "analysts", "ana")
    assert json.loads(done(lake, "group", "list", "--json")) == []


def test_a_token_is_shown_once_and_good_until_it_is_taken_back(lake: Path) -> None:
    made = ("token", "create", "ana", "--days", "1", "--read-only", "--schema", "sales", "--label", "laptop")
    secret = done(lake, *made).strip()

    shown = done(lake, "token", "list")

    assert secret not in shown
    line = shown.splitlines()[1].split()
    assert line[1:3] == ["token", "ana"]
    assert "schema sales, reading" in shown
    with headgate.connect(lake) as opened:
        found = opened._catalog.tokens.authenticate(secret)
        assert (found.token_id, found.scope.read_only) == (line[0], True)
    assert "good no more" in done(lake, "token", "revoke", line[0])
    with headgate.connect(lake) as opened, pytest.raises(NotAuthenticated):
        opened._catalog.tokens.authenticate(secret)
    assert run(lake, "token", "revoke", line[0]).exit_code == 1


def test_a_client_has_an_id_and_a_secret(lake: Path) -> None:
    made = json.loads(done(lake, "token", "create", "etl", "--client", "--json"))

    assert made["token"]["kind"] == "client"
    assert made["secret"].startswith("hgs_")


def test_a_wrong_privilege_is_an_error_with_what_to_do(lake: Path) -> None:
    result = run(lake, "grant", "fly", "--to", "ana")

    assert result.exit_code == 1
    assert "choose one of" in result.output


def test_a_privilege_is_granted_as_before_there_was_a_verb(lake: Path) -> None:
    assert done(lake, "grant", "READ", "--to", "ana") == "ana has READ on the lake\n"
    assert done(lake, "grant", "--to", "bob", "READ") == "bob has READ on the lake\n"
    assert done(lake, "grant", "add", "READ", "--to", "cid") == "cid has READ on the lake\n"
    assert done(lake, "grant", "revoke", "READ", "--from", "cid") == "cid has READ on the lake no more\n"
    assert [each["principal"] for each in json.loads(done(lake, "grant", "list", "--json"))] == ["ana", "bob"]


def test_no_privilege_is_called_like_a_verb() -> None:
    noun = next(row for row in COMMANDS if row.name == "grant")

    assert not {verb.name for verb in noun.verbs} & {privilege.value.lower() for privilege in Privilege}
