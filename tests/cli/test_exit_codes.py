"""How a command ends: each kind of error has its exit code, and says what to do about it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from headgate import errors
from headgate.cli import exit_codes, folder
from headgate.cli.exit_codes import EXIT_CODES
from headgate.cli.main import app
from headgate.errors import HeadgateError
from tests.support.lakes import build_lake


def every_error(of: type[HeadgateError] = HeadgateError) -> list[type[HeadgateError]]:
    return [each for child in of.__subclasses__() for each in (child, *every_error(child))]


EXPECTED: dict[type[HeadgateError], int] = {
    errors.InvalidRequest: 1,
    errors.TableExists: 1,
    errors.CorruptLog: 1,
    errors.DatabaseUnusable: 1,
    errors.CatalogLost: 1,
    errors.LakeNotFound: 3,
    errors.TableNotFound: 3,
    errors.SchemaNotFound: 3,
    errors.VersionNotFound: 3,
    errors.NotAuthenticated: 4,
    errors.NotAllowed: 4,
    errors.CommitRefused: 4,
    errors.AccessDenied: 4,
    errors.ConcurrentAppend: 5,
    errors.DomainConflict: 5,
    errors.GroupConflict: 5,
    errors.CatalogUnavailable: 6,
    errors.StorageUnavailable: 6,
    errors.TableFrozen: 6,
    errors.TooManyUnpublished: 6,
    errors.CommitUnknown: 7,
}


@pytest.mark.parametrize(
    ("error", "number"), EXPECTED.items(), ids=lambda each: getattr(each, "__name__", str(each))
)
def test_a_command_ends_with_the_code_of_its_error(
    monkeypatch: pytest.MonkeyPatch, error: type[HeadgateError], number: int
) -> None:
    def fail(_named: str | None = None) -> None:
        raise error("it did not work")

    monkeypatch.setattr(folder, "open_lake", fail)
    result = CliRunner().invoke(app, ["table", "list"])

    assert result.exit_code == number
    assert "error: it did not work" in result.stderr
    assert f"code: {error.code}" in result.stderr


def test_every_error_has_an_exit_code_of_the_table() -> None:
    numbers = {row.number for row in EXIT_CODES}

    assert {exit_codes.exit_code_of(each("x")) for each in every_error()} <= numbers
    assert len(numbers) == len(EXIT_CODES)


def test_what_may_pass_and_what_may_not_are_told_apart() -> None:
    assert exit_codes.error_fix(errors.CatalogUnavailable("x")) == "this may pass; run the command again"
    assert "nothing was committed" in (exit_codes.error_fix(errors.ConcurrentAppend("x")) or "")
    assert "commit list" in (exit_codes.error_fix(errors.CommitUnknown("x")) or "")
    assert exit_codes.error_fix(errors.InvalidRequest("x")) is None


def test_wrong_usage_and_an_interruption_have_codes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_named: str | None = None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "open_lake", interrupt)

    assert CliRunner().invoke(app, ["table", "list", "--nonsense"]).exit_code == exit_codes.USAGE
    assert CliRunner().invoke(app, ["tabel", "list"]).exit_code == exit_codes.USAGE
    assert CliRunner().invoke(app, ["table", "list"]).exit_code == 130


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (["-f", "nowhere.sql"], 3),
        (["-c", "\\i nowhere.sql"], 3),
        (["-c", "SELECT * FROM sales.nothing LIMIT 1"], 3),
        (["-c", "DESCRIBE sales.nothing"], 3),
        (["-c", "SHOW TABLES IN nowhere"], 3),
        (["-c", "SELECT * FROM sales.orders LIMIT 1", "-c", "DESCRIBE sales.nothing"], 3),
        (["-c", "\\nonsense"], 1),
    ],
    ids=str,
)
def test_statements_end_with_the_code_of_the_error_that_stops_them(
    tmp_path: Path, words: list[str], number: int
) -> None:
    build_lake(tmp_path / "lake")

    result = CliRunner().invoke(app, ["sql", *words, "--lake", str(tmp_path / "lake")])

    assert result.exit_code == number, result.output


def test_what_spark_does_not_find_is_not_found() -> None:
    error = errors.InvalidRequest("there is none", code="TABLE_OR_VIEW_NOT_FOUND")

    assert exit_codes.exit_code_of(error) == 3
