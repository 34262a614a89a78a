"""A number that is too large, or none, is wrong usage or means all there is; no traceback tells of it."""

import importlib
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

import headgate
from headgate.cli import options
from headgate.cli.command_row import leaf_commands
from headgate.cli.lazy_commands import COMMANDS
from headgate.cli.main import app
from headgate.cli.options import LARGEST_NUMBER

_HUGE = "9" * 21
_FREE = frozenset({"seed", "days"})
"""What is only a seed, and what the lake itself has a range for."""


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for words, row in leaf_commands(COMMANDS):
        module, _, name = row.function.partition(":")
        found = getattr(importlib.import_module(module), name)
        if isinstance(found, typer.Typer):
            yield from ((f"{words} {each.name}", each.callback) for each in found.registered_commands)  # type: ignore[misc]
        elif words not in ("server run", "serve"):  # whose settings are checked together
            yield words, found


def _numbers() -> list[Any]:
    found = []
    for words, function in _functions():
        for name, hint in typing.get_type_hints(function, include_extras=True).items():
            kind, *told = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
            kinds = {int, float} & {kind, *typing.get_args(kind)}
            if kinds and name not in _FREE:
                found.append(pytest.param(told, id=f"{words}-{name}"))
    return found


@pytest.mark.parametrize("told", _numbers())
def test_every_number_has_a_bound(told: list[Any]) -> None:
    (info,) = told

    assert info.callback in (options._require_small, options._require_number)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("shop")
    with headgate.connect(folder) as lake:
        lake.create_schema("s")
        lake.create_table("s.t", "id BIGINT").append([{"id": number} for number in range(3)])
    return str(folder)


def _run(shop: str, *words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--lake", shop])


@pytest.mark.parametrize(
    "words",
    [
        "table rows s.t --limit",
        "table show s.t --rows",
        "commit list s.t --limit",
        "commit list s.t --before",
        "event list --after",
        "stream read s.t --limit",
        "sql -c SELECT --limit",
    ],
)
def test_wrong_usage_ends_with_its_code(shop: str, words: str) -> None:
    result = _run(shop, *words.split(), _HUGE)

    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    "words", ["table rows s.t --limit", "table show s.t --rows", "stream read s.t --limit"]
)
def test_the_largest_number_means_all_of_them(shop: str, words: str) -> None:
    result = _run(shop, *words.split(), str(LARGEST_NUMBER))

    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", ["event follow", "worker run", "top"])
@pytest.mark.parametrize("seconds", ["1e12", "nan", "inf", "-1"])
def test_a_pause_has_a_range(shop: str, command: str, seconds: str) -> None:
    result = _run(shop, *command.split(), "--every", seconds)

    assert result.exit_code == 2, result.output
    assert "--every" in result.stderr


def test_a_statement_may_ask_for_more_rows_than_can_be_counted(shop: str) -> None:
    result = _run(shop, "sql", "--json", "-c", f"SELECT * FROM s.t LIMIT {_HUGE}")

    assert result.exit_code == 0, result.output
    assert '"rowCount":3' in result.stdout


@pytest.mark.parametrize("days", ["nan", "inf", "-inf", "1e300"])
def test_a_token_is_good_for_a_number_of_days(shop: str, days: str) -> None:
    result = _run(shop, "token", "create", "ann", "--days", days)

    assert result.exit_code == 1
    assert "error: a token is" in result.stderr
