"""What a catalog on PostgreSQL owes besides its ports: locks, lost connections, durability, one warehouse."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection
from typer.testing import CliRunner

import headgate
from headgate.catalog.activity.coordinator_ledger import DatabaseLedger
from headgate.catalog.catalog import Catalog
from headgate.catalog.database.postgresql import open_postgresql
from headgate.catalog.embedded import open_shared_catalog
from headgate.catalog.ports.commits import Open, Ratified, RatifiedCommit, StagedCommit, TableId, Unknown
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.ledger import SCHEMA_VERSION, Registration
from headgate.catalog.store import commit_store
from headgate.cli.main import app
from headgate.errors import CatalogUnavailable, InvalidRequest, UnsafeDatabase, UnsupportedFeature
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.settings import DatabaseSettings
from tests.support import postgresql
from tests.support.postgresql import SMALL, Server
from tests.support.proposals import inline
from tests.support.tables import create_managed
from tests.support.tcp_proxy import Cut, wire
from tests.support.waiting import PATIENCE_SECONDS

CATALOGS = ("postgresql",)


@dataclass(frozen=True)
class Place:
    """A database of its own, and its warehouse."""

    server: Server
    database: str
    warehouse: Path

    def open(self, settings: DatabaseSettings = SMALL, *, port: int | None = None) -> Catalog:
        url = self.server.url(self.database, port=port)
        return open_shared_catalog(url, warehouse=str(self.warehouse), settings=settings)

    @contextmanager
    def locked(self, table_id: TableId) -> Iterator[None]:
        """Another client holds the table's row."""
        with psycopg.connect(self.server.url(self.database)) as other:
            other.execute("SELECT 1 FROM headgate.tables WHERE table_id = %s FOR UPDATE", (table_id,))
            yield

    def wait_for_waiters(self, count: int) -> None:
        """Return when that many sessions wait for a lock."""
        mine = f"datname = '{self.database}' AND wait_event_type = 'Lock'"
        query = f"SELECT count(*) FROM pg_stat_activity WHERE {mine}"
        pause = threading.Event()
        for _ in range(int(PATIENCE_SECONDS) * 50):
            if self.server.execute(query) == [(count,)]:
                return
            pause.wait(0.02)
        raise AssertionError(f"there were never {count} who waited")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    server = postgresql.server()
    with server.database() as name:
        yield Place(server, name, tmp_path / "warehouse")


@pytest.fixture
def catalog(place: Place) -> Iterator[Catalog]:
    with closing(place.open()) as opened:
        yield opened


# --- locks


def test_commits_to_different_tables_do_not_wait_for_each_other(place: Place, catalog: Catalog) -> None:
    busy, free = (create_managed(catalog, TableName("s", name)).table_id for name in ("busy", "free"))
    with ThreadPoolExecutor(1) as pool:
        with place.locked(busy):
            waiting = pool.submit(catalog.propose, inline(busy, 1, "a"))
            place.wait_for_waiters(1)

            assert catalog.propose(inline(free, 1, "b")) == Ratified(Version(1))
            assert catalog.tail(busy).latest == 0
            assert not waiting.done()
        assert waiting.result(PATIENCE_SECONDS) == Ratified(Version(1))


def test_a_repeated_proposal_that_waited_for_the_first_is_the_same_commit(place: Place) -> None:
    """What is known of a transaction is asked after the lock is taken, not by the statement that takes it."""
    with closing(place.open()) as one, closing(place.open()) as another, ThreadPoolExecutor(2) as pool:
        table_id = create_managed(one).table_id
        with place.locked(table_id):
            answers = [pool.submit(each.propose, inline(table_id, 1, "same")) for each in (one, another)]
            place.wait_for_waiters(2)

        assert [answer.result(PATIENCE_SECONDS) for answer in answers] == [Ratified(Version(1))] * 2
        assert one.tail(table_id).latest == 1


def test_a_lock_that_never_comes_is_an_unavailable_catalog(place: Place) -> None:
    with closing(place.open(replace(SMALL, lock_seconds=1))) as hasty:
        table_id = create_managed(hasty).table_id

        with place.locked(table_id), pytest.raises(CatalogUnavailable, match="lock timeout"):
            hasty.propose(inline(table_id, 1, "a"))

        assert hasty.propose(inline(table_id, 1, "a")) == Ratified(Version(1))


def test_connections_that_are_all_busy_are_an_unavailable_catalog(place: Place) -> None:
    with closing(place.open(DatabaseSettings(connections=1, lock_seconds=1))) as small, ExitStack() as busy:
        for _ in range(2):
            busy.enter_context(small._database.reading())

        with pytest.raises(CatalogUnavailable, match="connections"):
            small.tables()


def test_a_reader_sees_one_state_however_long_it_looks(place: Place, catalog: Catalog) -> None:
    table_id = create_managed(catalog).table_id
    with catalog._database.reading() as db:
        before = commit_store.find_head(db, table_id)
        catalog.propose(inline(table_id, 1, "a"))

        assert commit_store.find_head(db, table_id) == before
        assert commit_store.commits_from(db, table_id, Version(1), Version(0)) == ()


# --- lost connections


@pytest.mark.parametrize("cut", Cut, ids=lambda cut: cut.name.lower())
def test_a_connection_lost_during_the_commit_is_unknown_and_then_found_out(place: Place, cut: Cut) -> None:
    with wire(place.server.port) as wired, closing(place.open(port=wired.entrance)) as catalog:
        table_id = create_managed(catalog).table_id
        proposal = inline(table_id, 1, "a")
        wired.arm(b"COMMIT\0", cut)

        answer = catalog.propose(proposal)

        assert wired.broken == 1
        assert isinstance(answer, Unknown)
        found = catalog.outcome_of(table_id, TxnId("a"), Version(1))
        assert found == (Ratified(Version(1)) if cut is Cut.AFTER else Open())
        assert catalog.propose(proposal) == Ratified(Version(1))
        assert [commit.txn_id for commit in catalog.tail(table_id).commits] == ["a"]


@pytest.mark.parametrize("word", [b"FOR UPDATE", b"INSERT INTO commits", b"UPDATE tables"])
def test_a_connection_lost_before_the_commit_has_changed_nothing(place: Place, word: bytes) -> None:
    with wire(place.server.port) as wired, closing(place.open(port=wired.entrance)) as catalog:
        table_id = create_managed(catalog).table_id
        wired.arm(word, Cut.AFTER)

        with pytest.raises(CatalogUnavailable):
            catalog.propose(inline(table_id, 1, "a"))

        assert wired.broken == 1
        assert catalog.tail(table_id).latest == 0
        assert catalog.propose(inline(table_id, 1, "a")) == Ratified(Version(1))


def test_connections_that_the_server_ended_meanwhile_are_not_noticed(place: Place, catalog: Catalog) -> None:
    table_id = create_managed(catalog).table_id
    place.server.execute(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{place.database}'"
    )

    assert catalog.propose(inline(table_id, 1, "a")) == Ratified(Version(1))


def test_a_server_that_is_not_there_is_unavailable_and_its_password_is_not_told(place: Place) -> None:
    with wire(1) as nobody:
        port = nobody.entrance
    url = f"postgresql://someone:hunter2@127.0.0.1:{port}/lake"

    with pytest.raises(CatalogUnavailable) as caught:
        open_shared_catalog(url, warehouse=str(place.warehouse))

    assert "hunter2" not in str(caught.value)


def test_a_value_the_database_cannot_hold_is_refused(catalog: Catalog) -> None:
    table_id = create_managed(catalog).table_id
    bad = replace(inline(table_id, 1, "a\0b"), txn_id=TxnId("a\0b"))

    with pytest.raises(InvalidRequest):
        catalog.propose(bad)

    assert catalog.tail(table_id).latest == 0


# --- durability


def test_a_server_without_fsync_is_refused_unless_allowed(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with _server_setting(place.server, "fsync", "off"):
        with pytest.raises(UnsafeDatabase, match="fsync=off"):
            place.open()
        with caplog.at_level(logging.WARNING):
            place.open(replace(SMALL, require_durable=False)).close()

    assert "fsync=off" in caplog.text
    place.open().close()


def test_commits_are_synchronous_even_where_the_database_says_otherwise(place: Place) -> None:
    place.server.execute(f"ALTER DATABASE {place.database} SET synchronous_commit = off")

    with closing(place.open()) as catalog, catalog._database.writing() as db:
        assert db.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_no_timeout_ends_the_wait_for_a_standby(place: Place) -> None:
    """A commit must not be acknowledged before the standby has it, however long that takes."""
    timeouts: list[object] = []
    place.server.execute(f"ALTER DATABASE {place.database} SET synchronous_commit = local")
    with _server_setting(place.server, "synchronous_standby_names", "nobody"):
        database = open_postgresql(place.server.url(place.database), SMALL)
    inner = database._before_commit

    def before_commit(connection: Connection) -> None:
        inner(connection)
        timeouts.append(connection.exec_driver_sql("SHOW statement_timeout").scalar())

    database._before_commit = before_commit
    with closing(database), database.writing() as db:
        timeouts.append(db.exec_driver_sql("SHOW statement_timeout").scalar())
    assert timeouts == ["1min", "0"]


# --- the lake


def test_the_first_to_connect_names_the_warehouse_for_all(place: Place, tmp_path: Path) -> None:
    url = place.server.url(place.database)
    with pytest.raises(InvalidRequest, match="warehouse"):
        headgate.connect(url)

    headgate.connect(url, warehouse=place.warehouse).close()
    with headgate.connect(url) as lake:
        lake.create_schema("sales")
        assert lake.tables() == ()
    headgate.connect(url, warehouse=f"{place.warehouse}/").close()
    with pytest.raises(InvalidRequest, match="are in"):
        headgate.connect(url, warehouse=tmp_path / "elsewhere")


def test_who_only_looks_makes_no_lake(place: Place) -> None:
    place.server.execute("DROP SCHEMA headgate CASCADE", place.database)

    with pytest.raises(InvalidRequest, match="no lake"):
        headgate.connect(place.server.url(place.database))

    found = place.server.execute("SELECT to_regnamespace('headgate')::text", place.database)
    assert found == [(None,)]


def test_the_command_line_takes_an_address_and_hides_its_password(place: Place, catalog: Catalog) -> None:
    url = place.server.url(place.database).replace("postgres@", "postgres:hunter2@")

    empty = CliRunner().invoke(app, ["tables", "--lake", url])
    create_managed(catalog, TableName("sales", "orders"))
    listed = CliRunner().invoke(app, ["tables", "--lake", url, "--json"])

    assert empty.exit_code == listed.exit_code == 0, (empty.output, listed.output)
    assert place.database in empty.output
    assert "hunter2" not in empty.output
    assert "sales.orders" in listed.output


def test_a_database_of_a_newer_release_is_left_alone(place: Place) -> None:
    place.server.execute("UPDATE headgate.alembic_version SET version_num = '9999'", place.database)

    with pytest.raises(UnsupportedFeature, match="newer release"):
        place.open()


@pytest.mark.parametrize("url", ["postgresql://", "postgresql://h:port/db", "mysql://h/db", "s3://bucket"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises((InvalidRequest, CatalogUnavailable)):
        headgate.connect(url, warehouse="x")


def test_a_folder_has_its_own_warehouse(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="warehouse"):
        headgate.connect(tmp_path, warehouse=tmp_path / "elsewhere")


def test_of_four_who_write_a_version_into_a_ledger_one_does(place: Place, catalog: Catalog) -> None:
    """The ledger of a coordinator works on PostgreSQL too."""
    ledger = DatabaseLedger("here", catalog._database)
    record = Registration(
        "t", "place", "id", first=Version(2), next=Version(2), published=Version(1), accepting=True,
        schema_version=SCHEMA_VERSION,
    )  # fmt: skip
    ledger.open(record)
    commits = [
        RatifiedCommit(Version(2), TxnId(f"txn{number}"), EpochMillis(1), StagedCommit(f"{number}.json"))
        for number in range(4)
    ]

    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(lambda commit: ledger.write("t", commit, accepting=True), commits))

    assert sorted(written) == [False, False, False, True]
    assert ledger.commits("t", Version(2)) == (commits[written.index(True)],)
    assert ledger.records("place") == (replace(record, next=Version(3)),)


@contextmanager
def _server_setting(server: Server, name: str, value: str) -> Iterator[None]:
    def expect(statement: str, *, is_set: bool) -> None:
        server.execute(statement)
        server.execute("SELECT pg_reload_conf()")
        pause = threading.Event()
        for _ in range(int(PATIENCE_SECONDS) * 50):
            if (server.execute(f"SHOW {name}") == [(value,)]) == is_set:
                return
            pause.wait(0.02)
        raise AssertionError(f"{name} did not change")

    expect(f"ALTER SYSTEM SET {name} = '{value}'", is_set=True)
    try:
        yield
    finally:
        expect(f"ALTER SYSTEM RESET {name}", is_set=False)
