"""The demo's chapters about commits that meet: over several tables, and in one metadata domain."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.text import Text

from headgate.cli.console import format_plural
from headgate.cli.demo.scene import Scene, open_or_create
from headgate.errors import GroupConflict
from headgate.lake.lake import Lake
from headgate.lake.table import Table
from headgate.plugins.domain_handlers import max_of, register, unregister

_STOCK = "sku STRING, n INT"
_SALES = "till STRING, sku STRING, n INT"
_DOMAIN = "shop.last_receipt"
_DELIVERED, _SOLD = 10, 3


def show_lost_race(scene: Scene) -> None:
    """Two tills sell from one shelf in the same moment: one transaction loses, whole, and is told why."""
    say, lake = scene.say, scene.opened.lake
    say.chapter("Two tables at once: a transaction, and a race that is lost")
    stock, sales = open_or_create(lake, "shop.stock", _STOCK), open_or_create(lake, "shop.sales", _SALES)
    stock.overwrite(scene.spark.createDataFrame([("pen", _DELIVERED)], _STOCK))
    before = sales.to_arrow().num_rows
    refused = False
    with say.work("two tills sell from the same shelf, each in a transaction over stock and sales"):
        first, second = (lake.transaction(["shop.stock", "shop.sales"]) for _ in range(2))
        for tx, till in ((first, "till 1"), (second, "till 2")):
            tx.table("shop.stock").update({"n": f"n - {_SOLD}"}, "sku = 'pen'")
            tx.table("shop.sales").append([{"till": till, "sku": "pen", "n": _SOLD}])
        first.commit()
        try:
            second.commit()
        except GroupConflict as lost:
            refused = True
            reason = Text(lost.message, style="yellow")
    if refused:
        say.say(reason)
    _claim_shelf(scene, stock, sales, sold=1, before=before, refused=refused)
    _sell(lake, "till 2")
    say.say("The second till read the shelf anew and sold once more:")
    _claim_shelf(scene, stock, sales, sold=2, before=before, refused=refused)


def _sell(lake: Lake, till: str) -> None:
    with lake.transaction(["shop.stock", "shop.sales"]) as tx:
        tx.table("shop.stock").update({"n": f"n - {_SOLD}"}, "sku = 'pen'")
        tx.table("shop.sales").append([{"till": till, "sku": "pen", "n": _SOLD}])


def _claim_shelf(scene: Scene, stock: Table, sales: Table, *, sold: int, before: int, refused: bool) -> None:
    left, told = stock.to_arrow().to_pylist()[0]["n"], sales.to_arrow().num_rows - before
    scene.say.claim(
        f"{left} of {_DELIVERED} pens are on the shelf, and shop.sales has {format_plural(told, 'sale')} of "
        f"{_SOLD}: the tables agree",
        expected=(True, _DELIVERED - _SOLD * sold, sold), found=(refused, left, told),
    )  # fmt: skip


def show_domain_handler(scene: Scene) -> None:
    """Two commits set one domain at once, and a handler settles what it becomes."""
    say, lake = scene.say, scene.opened.lake
    say.chapter(f"A metadata domain: two commits set {_DOMAIN}, and a handler merges them")
    sales = open_or_create(lake, "shop.sales", _SALES)
    last = int(sales.domain(_DOMAIN) or 0)
    with _handled(), say.work("two tills commit their sales with the number of their last receipt"):
        higher, lower = (lake.transaction(["shop.sales"]) for _ in range(2))
        for tx, till, receipt in ((higher, "till 1", last + 9), (lower, "till 2", last + 4)):
            row = {"till": till, "sku": "ink", "n": 1}
            tx.table("shop.sales").append([row], domains={_DOMAIN: str(receipt)})
        higher.commit()
        lower.commit()
    found = sales.domain(_DOMAIN)
    say.claim(
        f"both commits landed, and {_DOMAIN} is {found}: the handler max_of kept the higher one",
        expected=str(last + 9), found=found,
    )  # fmt: skip


@contextmanager
def _handled() -> Iterator[None]:
    register(_DOMAIN, max_of())
    try:
        yield
    finally:
        unregister(_DOMAIN)
