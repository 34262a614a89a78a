"""``headgate demo``: the story from the first line to what to try next."""

import os
import shlex
import shutil
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from headgate.catalog.targets import CatalogTarget
from headgate.cli import console, session, summaries
from headgate.cli.answers.tables import TableSummary
from headgate.cli.answers.upkeep import DemoClaim, DemoStory, DemoTable
from headgate.cli.demo import handover, place, scene, served, story, transactions
from headgate.cli.demo.narrator import Narrator
from headgate.cli.options import DEFAULT_LAKE, AsJson, LakeFolder, number_option
from headgate.cli.table import listing as tables_command
from headgate.plugins import catalogs

_SNIPPET = """\
import headgate
lake = headgate.connect("{folder}")
gold = lake.table("gold.revenue")
gold.read().orderBy("revenue", ascending=False).show(5)
gold.read(version=1).groupBy("category").sum("revenue").show()"""


def demo(
    rows: Annotated[int, number_option("--rows", min=1000, help="How many orders the day has.")] = 200_000,
    lake: LakeFolder = DEFAULT_LAKE,
    seed: Annotated[int, typer.Option("--seed", help="Another seed gives another day.")] = 7,
    fresh: Annotated[
        bool, typer.Option("--fresh/--keep", help="Start anew, or add a day to the demo's own lake.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Build a small lake and watch the catalog ratify its commits."""
    say = Narrator(console.err() if as_json else console.out())
    say.out.print(Text("Headgate: Delta Lake with a catalog at the gate", style="bold"))
    existed = place.prepare(lake, fresh=fresh)
    if existed:
        say.say(
            f"{lake} was made by an earlier demo: " + ("starting anew" if fresh else "adding a day to it")
        )
    found, seconds = _run_story(say, lake, rows=rows, seed=seed)
    _close(say, lake, found, seconds)
    if as_json:
        console.show_json(tell_story(say, lake, found, seconds))
    if not all(claim.holds for claim in say.claims):
        raise typer.Exit(1)


def _run_story(
    say: Narrator, folder: Path, *, rows: int, seed: int
) -> tuple[tuple[TableSummary, ...], float]:
    """The story; the tables there are at its end, and how long it took once Spark ran."""
    with ExitStack() as stack:
        with say.work("Spark started on this machine"):
            spark = stack.enter_context(session.local_session())
        start = time.monotonic()
        catalog = stack.enter_context(closing(catalogs.open_catalog(CatalogTarget(str(folder)))))
        stage = scene.build(spark, catalog, say, rows=rows, seed=seed)
        story.run_story(stage)
        transactions.show_lost_race(stage)
        transactions.show_domain_handler(stage)
        handover.show_adoption(stage, folder)
        handover.show_stream(stage, folder)
        served.show_other_engine(stage, folder)
        return summaries.summarize_tables(stage.opened), time.monotonic() - start


def tell_story(say: Narrator, folder: Path, found: tuple[TableSummary, ...], seconds: float) -> DemoStory:
    """What was made and claimed, for programs."""
    return DemoStory(
        lake=str(folder),
        seconds=seconds,
        claims=tuple(DemoClaim(claim=each.text, holds=each.holds) for each in say.claims),
        tables=tuple(
            DemoTable(name=each.name, version=each.version, num_rows=each.num_rows) for each in found
        ),
    )


def _close(say: Narrator, folder: Path, found: tuple[TableSummary, ...], seconds: float) -> None:
    say.heading("What you have now")
    tables_command.print_tables(say.out, found, indent=3)
    commits = sum(table.version + 1 for table in found)
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = console.format_size(sum(path.stat().st_size for path in files))
    say.say(f"{console.format_plural(commits, 'commit')} ratified; the story took {seconds:.1f} s")
    say.say(f"{size} in {console.format_plural(len(files), 'file')}, all in {folder.absolute()}")
    broken = [claim for claim in say.claims if not claim.holds]
    if broken:
        say.say(Text(f"{len(broken)} of {len(say.claims)} checks failed; look for ✗ above", style="bold red"))
        return
    say.say(Text(f"all {len(say.claims)} checks passed", style="bold green"))
    _try_next(say, folder)


def _try_next(say: Narrator, folder: Path) -> None:
    say.heading("Try next")
    command, python = _as_typed(sys.argv[0]), _as_typed(sys.executable)
    where = "" if folder == DEFAULT_LAKE else f" --lake {shlex.quote(str(folder))}"
    if shutil.which("java") is None and "JAVA_HOME" in os.environ:
        say.say(Text(f"export JAVA_HOME={shlex.quote(os.environ['JAVA_HOME'])}", style="green"))
    for rest in ("table list", "table history bronze.orders", "table rows gold.revenue --limit 5"):
        say.say(Text(f"{command} {rest}{where}", style="green"))
    say.say(Text(f"{command} server run {shlex.quote(str(folder))}", style="green"))
    say.say(
        "and open the address that it prints in a browser: the console signs in with the token that it names"
    )
    say.say(f"or in {python}:")
    for line in _SNIPPET.format(folder=str(folder)).splitlines():
        say.say(Text(f"    {line}", style="green"))


def _as_typed(program: str) -> str:
    """What to type for a program of this environment: its name if the shell would find it."""
    path = Path(program).absolute()
    found = shutil.which(path.name)
    if found is not None and Path(found).absolute() == path:
        return path.name
    inside = path.is_relative_to(Path.cwd())
    return shlex.quote(str(path.relative_to(Path.cwd()) if inside else path))
