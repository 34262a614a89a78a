"""Every command of the command line, played in one order on one lake, as text and as JSON."""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import headgate
from headgate.cli.main import app
from tests.support.lakes import build_lake


@dataclass
class Ground:
    """The lake on which commands are played, and what they name of it."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    def run(self, line: str) -> Result:
        """What a command line of the words after ``headgate`` does; what is in braces is filled in."""
        words = [word.format(**self.names) for word in shlex.split(line)]
        return CliRunner().invoke(app, words)

    def json(self, line: str) -> object:
        return json.loads(self.run(f"{line} --json").stdout)


@dataclass(frozen=True, slots=True)
class Play:
    """A command, and what it is given for its text and for its JSON: what changes a lake does so once."""

    command: str
    text: str = ""
    json: str | None = None
    """None if it is the same."""
    learn: Callable[[Ground], None] = lambda _ground: None
    """What later commands must know of this one."""

    @property
    def file_name(self) -> str:
        return f"{self.command.replace(' ', '-')}.txt"


def _learn_token(ground: Ground) -> None:
    tokens = {each["label"]: each["token_id"] for each in ground.json("token list")}  # type: ignore[attr-defined]
    ground.names |= {"first": tokens["laptop"], "second": tokens["job"]}


PLAYS: tuple[Play, ...] = (
    Play("config show"),
    Play("table list"),
    Play("table show", "sales.orders --rows 2"),
    Play("table history", "sales.orders"),
    Play("table rows", "sales.orders --where 'id > 2' --columns id --limit 2"),
    Play("commit list", "sales.orders"),
    Play("commit show", "sales.stock 1"),
    Play("txn list"),
    Play("txn show", "{group}"),
    Play("event list", "--limit 4 --kind commit --kind create"),
    Play("event follow", "--after 0 --count 2"),
    Play("schema create", "web", "mobile"),
    Play("schema list"),
    Play(
        "table create",
        "web.visits 'id BIGINT NOT NULL, day DATE' --partition-by day --comment 'who came'",
        "web.clicks 'id BIGINT' --property delta.appendOnly=true --cluster-by id",
    ),
    Play(
        "table set",
        "web.visits delta.appendOnly=true",
        "web.visits delta.logRetentionDuration='interval 9 days'",
    ),
    Play("table unset", "web.visits delta.appendOnly", "web.visits delta.logRetentionDuration"),
    Play("domain set", "web.visits shop.loaded 7", "web.visits shop.source web"),
    Play("domain list", "web.visits"),
    Play("domain get", "web.visits shop.loaded"),
    Play("domain remove", "web.visits shop.loaded", "web.visits shop.source"),
    Play("table rename", "web.visits web.views", "web.clicks web.taps"),
    Play("table publish", "sales.orders", ""),
    Play("table checkpoint", "sales.orders"),
    Play("table release", "web.views", "web.taps"),
    Play("table adopt", "{views} web.views", "{taps} web.taps"),
    Play("table drop", "web.views", "web.taps"),
    Play("table dropped"),
    Play("table undrop", "web.views", "web.taps --to web.clicks"),
    Play("table purge", "old.first --yes --files", "old.second --yes --files"),
    Play("schema drop", "old", "mobile"),
    Play("grant add", "READ --to ann", "APPEND --to group:loaders --on sales.orders"),
    Play("grant list"),
    Play("grant revoke", "READ --from ann", "READ --from ann"),
    Play("group add", "loaders ann", "loaders bob"),
    Play("group list"),
    Play("group remove", "loaders ann", "loaders bob"),
    Play("token create", "ann --days 1 --label laptop", "bob --client --label job", learn=_learn_token),
    Play("token list"),
    Play("token revoke", "{first}", "{second}"),
    Play("maintenance permit", "sales.orders 'data cleanup'"),
    Play("maintenance list", "sales.orders"),
    Play("maintenance forbid", "sales.orders 'data cleanup'"),
    Play("server settings"),
    Play("worker run", "--dry-run", "--once"),
    Play("check", "sales.stock"),
    Play("recover", "--dry-run"),
)
"""In an order in which each finds what it is about."""

HELP_ONLY = frozenset({"demo", "server run", "completion"})
"""Commands that take Spark, run on, or print a script: they have tests of their own."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a command said."""

    help: str
    text: str
    json: str


def build_ground(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """A lake with a past: a transaction over two tables, and two tables that were dropped."""
    ground = Ground(folder)
    monkeypatch.setenv("HEADGATE_LAKE", str(ground.lake))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "100")
    for variable in ("XDG_CONFIG_HOME", "HEADGATE_TOKEN", "HEADGATE_TOKEN_FILE", "HEADGATE_SERVER_CONFIG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(folder)
    build_lake(ground.lake)
    with headgate.connect(ground.lake) as lake:
        with lake.transaction() as tx:
            tx.table("sales.orders").append([{"id": 6, "writer": "test"}])
            tx.table("sales.stock").append([{"id": 1, "writer": "test"}])
        lake.create_schema("old")
        for name in ("old.first", "old.second"):
            lake.create_table(name, "id BIGINT")
            lake.drop_table(name)
    (found,) = ground.json("txn list")  # type: ignore[misc]
    ground.names["group"] = found["group"]
    return ground


def play(ground: Ground, step: Play) -> Played:
    """Ask for the command's help, run it, and run it for JSON."""
    helped = ground.run(f"{step.command} --help")
    said = ground.run(f"{step.command} {step.text}")
    answered = ground.run(f"{step.command} {step.text if step.json is None else step.json} --json")
    for result in (helped, said, answered):
        assert result.exit_code == 0, (step.command, result.output, result.exception)
    _learn_places(ground, step)
    step.learn(ground)
    return Played(helped.stdout, said.stdout, answered.stdout)


def _learn_places(ground: Ground, step: Play) -> None:
    """Where the tables are that are released next."""
    if step.command == "table rename":
        for each in ground.json("table list"):  # type: ignore[attr-defined]
            schema, _, table = each["name"].partition(".")
            if schema == "web":
                ground.names[table] = each["location"]
