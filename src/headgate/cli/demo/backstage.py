"""What the catalog does behind the demo's story: refuse, ratify, publish, remember."""

from pathlib import Path

import msgspec
from pyspark.sql import functions as F
from rich.text import Text

from headgate.cli import summaries
from headgate.cli.answers.tables import CatalogView
from headgate.cli.console import OutputColumn, format_plural
from headgate.cli.demo.scene import Scene
from headgate.cli.table import history as history_command
from headgate.errors import SchemaMismatch
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names

_RECENT = 8
_GLANCE = 110
_VIEW = (
    OutputColumn("table", style="bold"),
    OutputColumn("ratified", right=True),
    OutputColumn("published", right=True),
    OutputColumn("held inline", right=True),
    OutputColumn("held staged", right=True),
)


def show_refusal(scene: Scene) -> None:
    """Rows that do not fit are refused, with a message that helps."""
    say, table = scene.say, scene.silver
    say.chapter("A mistake: appending rows that do not fit")
    before = table.version()
    wrong = (
        scene.read(table)
        .limit(10)
        .withColumn("quantity", F.col("quantity").cast("string"))
        .withColumn("discount", F.lit(0.1))
    )
    refused = False
    try:
        table.append(wrong)
    except SchemaMismatch as exc:
        refused = True
        say.say(Text(exc.message, style="yellow"))
        say.say(Text(f"code: {exc.code}", style="dim"))
    say.claim(
        f"{table.name} was left alone: still version {table.version()}",
        expected=(True, before), found=(refused, table.version()),
    )  # fmt: skip


def show_publishing(scene: Scene) -> None:
    """What the catalog holds, and what everyone sees once it is published."""
    say = scene.say
    say.chapter("The catalog: it ratifies first, and the log is published afterwards")
    say.say("Small commits travel to the catalog inline; the reporting client staged its own as files.")
    views = _views(scene)
    _print_views(scene, views)
    held = sum(view.inline + view.staged for view in views.values())
    waiting = sum(view.ratified - view.published for view in views.values())
    say.claim(
        f"the catalog holds the {format_plural(held, 'commit')} that are not in _delta_log yet",
        expected=waiting, found=held,
    )  # fmt: skip
    with say.work("everything published, for clients that read only _delta_log"):
        for entry in scene.opened.lake.tables():
            scene.opened.lake.table(str(entry.name)).publish()
    views = _views(scene)
    _print_views(scene, views)
    say.claim(
        "every ratified version is published now, in order and without a gap",
        expected=[list(range(view.ratified + 1)) for view in views.values()],
        found=[_published_files(location) for location in _locations(scene)],
    )
    _print_commit(scene)


def show_history(scene: Scene) -> None:
    """The versions of the busiest table."""
    say, table = scene.say, scene.bronze
    say.chapter(f"History: what happened to {table.name}")
    versions = summaries.summarize_history(scene.opened, table.name)
    history_command.print_versions(say.out, versions[:_RECENT], indent=3)
    older = len(versions) - _RECENT
    if older > 0:
        say.say(f"and {format_plural(older, 'older version')}")
    rows = sum(int(version.operation_metrics.get("numOutputRows", 0)) for version in versions)
    say.claim(
        f"the history adds up: its {len(versions)} versions wrote {rows:,} rows",
        expected=scene.count(table), found=rows,
    )  # fmt: skip


def _views(scene: Scene) -> dict[str, CatalogView]:
    return {
        str(entry.name): summaries.summarize_tail(scene.opened.catalog.tail(entry.table_id))
        for entry in scene.opened.lake.tables()
    }


def _print_views(scene: Scene, views: dict[str, CatalogView]) -> None:
    scene.say.table(
        _VIEW,
        [
            (name, f"up to {view.ratified}", f"up to {view.published}", str(view.inline), str(view.staged))
            for name, view in views.items()
        ],
    )


def _locations(scene: Scene) -> list[str]:
    return [entry.location for entry in scene.opened.lake.tables()]


def _published_files(location: str) -> list[int]:
    found = (
        file_names.parse(file_names.LOG_FOLDER + path.name)
        for path in Path(location, file_names.LOG_FOLDER).iterdir()
    )
    return sorted(
        file.version for file in found if file is not None and file.kind is file_names.LogFileKind.PUBLISHED
    )


def _print_commit(scene: Scene) -> None:
    path = file_names.published_path(Version(scene.gold.version()))
    lines = Path(scene.gold.location, path).read_text().splitlines()
    scene.say.say(f"{path} of {scene.gold.name}, {format_plural(len(lines), 'action')} as JSON:")
    width = min(_GLANCE, scene.say.out.width - 18)
    for line in lines:
        [(action, body)] = msgspec.json.decode(line).items()
        text = msgspec.json.encode(body).decode()
        shown = text if len(text) <= width else text[:width] + " …"
        scene.say.say(Text.assemble((action.ljust(10), "magenta"), " ", (shown, "dim")))
