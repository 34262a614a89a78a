"""What every command says: its help, its text and its JSON, word for word, a file for each.

After a change that means to change them write them anew, and read the difference as a user would:
``HEADGATE_WRITE_SNAPSHOTS=1 python -m pytest tests/cli/test_snapshots.py``.
"""

import importlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import headgate
from headgate.cli.answers.command_outputs import (
    FAILURE,
    ON_PAGES_OF_THEIR_OWN,
    OWN_PAGE_SHAPES,
    SHAPES,
    TEXT_ONLY,
    AnswerForm,
    AnswerShape,
)
from headgate.cli.command_row import leaf_commands
from headgate.cli.lazy_commands import COMMANDS
from tests.cli.commands_played import HELP_ONLY, PLAYS, Ground, Played, build_ground, play
from tests.support.lakes import build_lake

STORED = Path(__file__).with_name("snapshots")
WRITE = "HEADGATE_WRITE_SNAPSHOTS"
TODAY = {
    words: row
    for words, row in leaf_commands(COMMANDS)
    if row.instead is None and words not in ON_PAGES_OF_THEIR_OWN
}
_STEADY: tuple[tuple[str, str], ...] = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
    (r"\b[0-9a-f]{64}\b", "<sha256>"),
    (r"\b[0-9a-f]{32}-", "<random>-"),
    (r'("num\w*Bytes": )"\d+"', r'\1"<size>"'),
    (r"hg[a-z]_[\w-]+", "<secret>"),
    (r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?Z?)?", "<moment>"),
    (r"\b1[0-9]{12}\b", '"<millis>"'),
    (r'("token_id|"tokenId|"parent_id)": "[^"<]+"', r'\1": "<id>"'),
    (r"\b\d+(\.\d+)? (B|KiB|MiB)\b", "<size>"),
    (r'("(sizeInBytes|size|bytesAdded|bytesRemoved)": )\d+', r'\1"<size>"'),
    (r"Headgate/[\w.+]+", "Headgate/<release>"),
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ground, Mapping[str, Played]]]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        ground = build_ground(tmp_path_factory.mktemp("played"), monkeypatch)
        yield ground, {step.command: play(ground, step) for step in PLAYS}


@pytest.mark.parametrize("step", PLAYS, ids=lambda step: step.command)
def test_a_command_says_this(played: tuple[Ground, Mapping[str, Played]], step: Any) -> None:
    ground, results = played
    said = results[step.command]
    parts = (
        (f"{step.command} --help", said.help),
        (f"{step.command} {step.text}".strip(), _aligned_again(said.text)),
        (f"{step.command} {step.text if step.json is None else step.json}".strip() + " --json", said.json),
    )

    _compare(step.file_name, parts, ground)


@pytest.mark.parametrize("command", sorted(HELP_ONLY))
def test_the_help_of_a_command_says_this(played: tuple[Ground, Mapping[str, Played]], command: str) -> None:
    ground, _ = played

    _compare(
        f"{command.replace(' ', '-')}.txt",
        ((f"{command} --help", ground.run(f"{command} --help").stdout),),
        ground,
    )


@pytest.mark.parametrize(
    "shape", [each for each in SHAPES if each.command not in HELP_ONLY], ids=lambda shape: shape.command
)
def test_json_is_of_the_documented_shape(
    played: tuple[Ground, Mapping[str, Played]], shape: AnswerShape
) -> None:
    printed = played[1][shape.command].json
    texts = printed.splitlines() if shape.form is AnswerForm.LINES else [printed]

    assert texts
    for text in texts:
        check_shape(shape, text)


@pytest.mark.parametrize(
    ("line", "shape"),
    list(
        zip(
            (
                "sql --json -c 'SELECT * FROM sales.orders LIMIT 1'",
                "top --once --json",
                "stream read sales.orders --limit 1",
                "stream list --json",
                "stream show a-stream --json",
            ),
            OWN_PAGE_SHAPES,
            strict=True,
        )
    ),
    ids=[shape.command for shape in OWN_PAGE_SHAPES],
)
def test_json_on_pages_of_their_own_is_of_the_documented_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, shape: AnswerShape
) -> None:
    monkeypatch.setenv("HEADGATE_LAKE", str(tmp_path / "lake"))
    build_lake(tmp_path / "lake")
    with headgate.connect(tmp_path / "lake") as lake:
        lake.table("sales.stock").append([{"id": 1}], txn=("a-stream", 3))

    printed = Ground(tmp_path).run(line).stdout
    for text in printed.splitlines() if shape.form is AnswerForm.LINES else [printed]:
        check_shape(shape, text)


def test_an_error_is_of_the_documented_shape(played: tuple[Ground, Mapping[str, Played]]) -> None:
    result = played[0].run("table show sales.nothing --json")

    assert result.stdout == ""
    check_shape(FAILURE, result.stderr)
    assert json.loads(result.stderr)["exitCode"] == result.exit_code == 3


def test_every_command_is_played_and_has_a_shape() -> None:
    text_only = {row.command for row in TEXT_ONLY}

    assert {step.command for step in PLAYS} | HELP_ONLY == set(TODAY)
    assert [shape.command for shape in SHAPES] == [words for words in TODAY if words not in text_only]
    stored = {path.name for path in STORED.iterdir() if path.is_file()}
    assert stored == {f"{words.replace(' ', '-')}.txt" for words in TODAY}


def test_an_older_name_is_the_same_command() -> None:
    for words, row in leaf_commands(COMMANDS):
        if row.instead is not None:
            assert row.function == TODAY[row.instead].function, words


def check_shape(shape: AnswerShape, text: str) -> None:
    """By the schema, and by the type: nothing is in it that the shape does not have."""
    module, _, name = shape.type.partition(":")
    single: Any = getattr(importlib.import_module(module), name)
    shaped = tuple[single, ...] if shape.form is AnswerForm.LIST else single  # type: ignore[misc]

    jsonschema.validate(json.loads(text), msgspec.json.schema(shaped))
    again = msgspec.json.encode(msgspec.json.decode(text, type=shaped, strict=True))
    assert json.loads(again) == json.loads(text)


def _compare(file_name: str, parts: tuple[tuple[str, str], ...], ground: Ground) -> None:
    said = "".join(f"$ headgate {line}\n{_steady(text, ground)}\n" for line, text in parts)
    stored = STORED / file_name
    if os.environ.get(WRITE):
        stored.write_text(said)

    assert said == stored.read_text()


def _steady(text: str, ground: Ground) -> str:
    """The words without what differs from run to run."""
    text = text.replace(str(ground.folder), "<folder>")
    for pattern, word in _STEADY:
        text = re.sub(pattern, word, text)
    return text


def _aligned_again(text: str) -> str:
    """Without the width of columns, which sizes and moments decide."""
    return "".join(re.sub(r"(?<=\S) {2,}", "  ", line) + "\n" for line in text.splitlines())
