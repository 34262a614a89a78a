"""The demo's chapters about rows that come from elsewhere and go there: adoption, release and a stream."""

import shutil
from pathlib import Path

from headgate.cli.demo.place import CHECKPOINTS, ORDINARY_TABLE
from headgate.cli.demo.scene import Scene
from headgate.lake.path_table import at_path

_NAME = "shop.visitors"
_COPY = "shop.orders_as_they_came"


def show_adoption(scene: Scene, folder: Path) -> None:
    """An ordinary table becomes one of the lake, and an ordinary one again."""
    say, lake = scene.say, scene.opened.lake
    say.chapter("Adopt and release: an ordinary Delta table, in the catalog's hands and back")
    place = folder / ORDINARY_TABLE
    shutil.rmtree(place, ignore_errors=True)
    ordinary = at_path(place, columns="store STRING, n INT")
    ordinary.append([{"store": "Basel", "n": 120}])
    with say.work(f"{place} adopted as {_NAME}, written to, and released"):
        adopted = lake.adopt(place, _NAME)
        adopted.append([{"store": "Chur", "n": 80}])
        lake.release(_NAME)
    reopened = at_path(place)
    rows = {row["store"]: row["n"] for row in reopened.to_arrow().to_pylist()}
    say.claim(
        f"by its path it has both rows, and {reopened.version() + 1} versions in one history",
        expected={"Basel": 120, "Chur": 80}, found=rows,
    )  # fmt: skip


def show_stream(scene: Scene, folder: Path) -> None:
    """The bronze table as a stream into another one, each row once."""
    say, lake, source = scene.say, scene.opened.lake, scene.bronze
    say.chapter(f"A stream: {source.name} flows on, each row once")
    checkpoint = folder / CHECKPOINTS / "orders_as_they_came"
    with say.work(f"a query brings {_COPY} up to date, stops, and is started again"):
        for _ in range(2):
            query = lake.write_stream(
                source.read_stream(spark=scene.spark), _COPY, checkpoint=str(checkpoint), available_now=True
            )
            query.awaitTermination()
    copied = scene.count(lake.table(_COPY))
    say.claim(
        f"{_COPY} has {copied:,} rows: the second start found nothing new and brought nothing twice",
        expected=scene.count(source), found=copied,
    )  # fmt: skip
