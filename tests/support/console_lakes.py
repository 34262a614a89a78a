"""Lakes to look at in the console, made without Spark: a small one, and one that means harm."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import headgate
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.access import secret_digest
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.clock import SystemWorld
from headgate.errors import HeadgateError
from headgate.server.app import ServerParts, create_app
from headgate.server.auth.credentials import CredentialAuthenticator
from headgate.server.auth.oidc import TokenVerifier
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.operations.metered_catalog import meter
from headgate.server.operations.metrics import LakeGauges
from headgate.server.operations.parts import Operations, make_operations
from headgate.server.publisher import Publisher
from headgate.server.settings import ServerSettings
from headgate.server.trusted_issuers import TrustedIssuer
from headgate.settings import Publish, Settings
from headgate.table.commit.background import PostCommitScheduler
from tests.support.http_server import running
from tests.support.large_lakes import ROWS_OF_A_FILE
from tests.support.server_time import RequestTimes, timed_app

ADMIN = "the-owner-of-the-console-lake-000000000000"
MARKUP = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'`{{7*7}}&lt;\u202egpj.exe\u2066"
DAYS = 6
"""Days of orders in the small lake."""


@dataclass(frozen=True)
class ConsoleServer:
    """A server over lakes, with tokens of the owner and of others by their names."""

    url: str
    catalogs: dict[str, LakeCatalog]
    operations: Operations
    tokens: dict[str, str]
    times: RequestTimes

    @property
    def catalog(self) -> LakeCatalog:
        """The catalog of ``main``, on behalf of its owner."""
        return self.catalogs["main"]


def build_small_lake(folder: Path) -> None:
    """A shop: orders by day, stock, and customers that only some may see; a transaction and a refusal."""
    with headgate.connect(folder) as lake:
        lake.create_schema("sales")
        lake.create_schema("people")
        orders = lake.create_table(
            "sales.orders",
            "id BIGINT NOT NULL COMMENT 'Counted up by the till', day DATE, "
            "amount DECIMAL(10,2) COMMENT 'In euro', address STRUCT<city: STRING, zip: STRING>",
            partition_by=["day"],
            comment="Every order of the shop, by day",
            properties={"delta.checkpointInterval": "5", "shop.owner": "till"},
        )
        for day in range(DAYS):
            orders.append(_orders(day), domains={"shop.loaded": str(day)})
        orders.add_columns("note STRING COMMENT 'What the customer said'")
        stock = lake.create_table("sales.stock", "sku STRING, n INT")
        stock.append([{"sku": sku, "n": 10} for sku in ("bread", "milk", "salt")])
        lake.create_table("people.customers", "id BIGINT, name STRING").append([{"id": 1, "name": "Ada"}])
        with lake.transaction() as tx:
            tx.table("sales.orders").append(_orders(DAYS))
            tx.table("sales.stock").append([{"sku": "yeast", "n": 3}])
        _govern(lake)
    _refuse(folder)


def _orders(day: int) -> list[dict[str, object]]:
    at = date(2026, 11, 1) + timedelta(days=day)
    return [
        {"id": day * 100 + n, "day": at, "amount": n + 1, "address": {"city": "Ghent", "zip": f"90{n:02}"}}
        for n in range(5 + 3 * day)
    ]


def _govern(lake: headgate.Lake) -> None:
    lake.grant("READ", on="sales", to="group:analysts")
    lake.add_member("analysts", "bob")
    lake.grant("READ", on="sales.stock", to="carol")
    lake.grant("APPEND", on="sales.stock", to="carol")
    lake.permit("sales.orders", "data cleanup")


def _refuse(folder: Path) -> None:
    with headgate.connect(folder, principal="bob") as lake:
        try:
            lake.table("sales.stock").append([{"sku": "sand", "n": 1}])
        except HeadgateError:
            return
    raise AssertionError("bob may not append")


def build_hostile_lake(folder: Path) -> None:
    """Names, comments and values with markup, quotes and signs that turn the direction of text."""
    with headgate.connect(folder) as lake:
        lake.create_schema("hostile")
        columns = f"`a<b>` STRING COMMENT '{MARKUP.replace(chr(39), chr(34))}', `c\u202ed` STRING, n INT"
        table = lake.create_table(
            "hostile.marked",
            columns,
            comment=MARKUP,
            properties={"delta.columnMapping.mode": "name", "x.<b>y</b>": MARKUP},
        )
        for number in range(3):
            rows = [{"a<b>": MARKUP, "c\u202ed": "<b>bold</b>", "n": number}]
            table.append(rows, user_metadata=MARKUP, domains={"evil.<i>domain</i>": MARKUP})
        lake.create_table("hostile.versions", "id INT", comment=MARKUP).append(
            [{"id": 1}], user_metadata=MARKUP
        )
        properties = {"delta.enableDeletionVectors": "true"}
        lake.create_table(
            "hostile.files", "id INT, day STRING", partition_by=["day"], comment=MARKUP, properties=properties
        ).append([{"id": number, "day": MARKUP} for number in range(ROWS_OF_A_FILE)])
        lake.grant("READ", on="hostile", to="mallory <script>alert(2)</script>")


@contextmanager
def console_server(
    folders: Mapping[str, Path], issuers: tuple[TrustedIssuer, ...] = ()
) -> Iterator[ConsoleServer]:
    """A real server over lakes that are there, one of them ``main``, with accounts, until the block ends."""
    operations = make_operations(ServerSettings(events_seconds=0.05, issuers=issuers))
    settings = Settings(publish=Publish.ON_DEMAND)
    with ExitStack() as stack:
        catalogs = {name: stack.enter_context(closing(open_catalog(at))) for name, at in folders.items()}
        served = tuple(_served(name, each, operations, settings) for name, each in catalogs.items())
        lakes = ServedLakes(served)
        verifier = TokenVerifier(issuers, SystemWorld()) if issuers else None
        authenticator = CredentialAuthenticator(lakes, SystemWorld(), secret_digest(ADMIN), verifier)
        tokens = {"owner": ADMIN}
        for name in ("bob", "carol", "nobody"):
            tokens[name] = catalogs["main"].tokens.create(name, ttl_ms=3_600_000).secret
        times = RequestTimes()
        app = create_app(ServerParts(lakes, authenticator, operations=operations))
        url = stack.enter_context(running(timed_app(app, times)))
        stack.callback(operations.drain.begin)
        yield ConsoleServer(url, catalogs, operations, tokens, times)


def _served(name: str, catalog: LakeCatalog, operations: Operations, settings: Settings) -> ServedLake:
    after_commit = PostCommitScheduler(settings, catalog.copies.write_if_due)
    lake = ServedLake(name, meter(name, catalog, operations.metrics), after_commit, settings)
    publisher = Publisher(lake, seconds=0.05)
    gauges = LakeGauges(publisher.unpublished, publisher.lag_seconds, lambda: 0.0)
    operations.metrics.watch_lake(name, gauges)
    return lake
