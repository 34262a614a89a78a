"""The demo replaces its own lakes and touches nothing else."""

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from typer.testing import CliRunner

from headgate.cli.answers.command_outputs import SHAPES
from headgate.cli.answers.tables import CatalogView, TableSummary
from headgate.cli.demo import command, place
from headgate.cli.demo.narrator import Claim, Narrator
from headgate.cli.main import app
from headgate.errors import InvalidRequest
from tests.cli.test_snapshots import check_shape
from tests.support.lakes import build_lake


@pytest.mark.parametrize("exists", [True, False])
def test_a_new_or_empty_folder_is_marked(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "lake"
    if exists:
        folder.mkdir()

    assert place.prepare(folder, fresh=True) is False
    assert (folder / place.MARKER).is_file()


def test_a_lake_of_the_demo_is_replaced_but_what_lies_beside_it_stays(tmp_path: Path) -> None:
    place.prepare(tmp_path, fresh=True)
    build_lake(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")

    assert place.prepare(tmp_path, fresh=True) is True
    assert {path.name for path in tmp_path.iterdir()} == {place.MARKER, "notes.txt"}


def test_a_lake_of_the_demo_is_kept_when_asked(tmp_path: Path) -> None:
    place.prepare(tmp_path, fresh=True)
    build_lake(tmp_path)

    assert place.prepare(tmp_path, fresh=False) is True
    assert (tmp_path / "catalog.sqlite").is_file()


@pytest.mark.parametrize("fresh", [True, False])
def test_a_folder_of_somebody_else_is_refused_untouched(tmp_path: Path, fresh: bool) -> None:
    build_lake(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(InvalidRequest, match="nothing in it was touched"):
        place.prepare(tmp_path, fresh=fresh)

    assert sorted(tmp_path.rglob("*")) == before


def test_the_command_refuses_before_it_starts_spark(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("mine")

    result = CliRunner().invoke(app, ["demo", "--lake", str(tmp_path)])

    assert result.exit_code == 1
    assert "--lake DIR" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_the_json_of_the_demo_is_of_its_shape(tmp_path: Path) -> None:
    say = Narrator(Console(file=io.StringIO()))
    say.claims.append(Claim("nothing was lost", holds=True))
    found = TableSummary(
        name="gold.revenue",
        id="7",
        location="there",
        version=3,
        num_rows=12,
        catalog=CatalogView(ratified=3, published=3, inline=0, staged=0),
    )

    told = command.tell_story(say, tmp_path, (found,), 1.5)

    check_shape(
        next(shape for shape in SHAPES if shape.command == "demo"), msgspec.json.encode(told).decode()
    )
    assert told.claims[0].holds
