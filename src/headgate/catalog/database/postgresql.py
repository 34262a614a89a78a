"""A PostgreSQL database as the catalog's: one for many machines, each table locked on its own."""

import logging
from dataclasses import dataclass
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError

from headgate.catalog.database.engine import Database
from headgate.catalog.targets import without_password
from headgate.errors import InvalidRequest, UnsafeDatabase
from headgate.settings import DatabaseSettings

SCHEMA = "headgate"
"""Where the catalog's tables are, so that they share a database with other things."""

_DRIVER = "postgresql+psycopg"
_MIGRATION_LOCK = 0x68656164_67617465  # "headgate"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DurabilityRisk:
    """A setting of the server with which it may lose what it said was committed."""

    setting: str
    value: str
    danger: str
    fatal: bool


DURABILITY_RISKS: tuple[DurabilityRisk, ...] = (
    DurabilityRisk(
        "fsync", "off", "a crash of its machine loses or tears commits that were acknowledged", fatal=True
    ),
    DurabilityRisk(
        "full_page_writes",
        "off",
        "a crash may tear pages, unless the file system rules that out",
        fatal=False,
    ),
)


def open_postgresql(url: str, settings: DatabaseSettings, *, create: bool = True) -> Database:
    """The database at this address, checked to be durable, and brought to the newest schema if need be.

    Without ``create`` a database that has no lake is left as it is.
    """
    engine = _engine(parse_url(url), settings)
    event.listen(engine, "connect", _configure)
    database = Database(engine)
    try:
        with database.reading() as connection:
            _check_durability(connection, settings)
            waits_for_standby = bool(connection.scalar(text("SHOW synchronous_standby_names")))
        if waits_for_standby:
            database = Database(engine, before_commit=_wait_for_standby)
        if not create and database.revision() is None:
            raise InvalidRequest(
                f"there is no lake in {without_password(url)} yet: its maker says where its tables shall "
                "be, with headgate.connect(url, warehouse='s3://bucket/path'), or a folder that all its "
                "users see",
                code="HEADGATE_LAKE_NOT_FOUND",
            )
        database.migrate(_prepare)
    except BaseException:
        engine.dispose()
        raise
    return database


def parse_url(url: str) -> URL:
    """The parts of an address as they are connected to."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as exc:
        # The address itself is not repeated: it may hold a password.
        raise InvalidRequest(
            "this is not the address of a PostgreSQL database: write postgresql://user@host:5432/database"
        ) from exc
    return parsed.set(drivername=_DRIVER)


def _engine(url: URL, settings: DatabaseSettings) -> Engine:
    session = {
        "search_path": SCHEMA,
        "lock_timeout": f"{settings.lock_seconds}s",
        "statement_timeout": f"{settings.statement_seconds}s",
        # A process that stopped in the middle of a transaction must not keep its table locked.
        "idle_in_transaction_session_timeout": f"{settings.statement_seconds}s",
    }
    asked = str(url.query.get("options", ""))
    options = " ".join([asked, *(f"-c {name}={value}" for name, value in session.items())]).strip()
    try:
        return create_engine(
            url,
            connect_args={
                "options": options,
                "connect_timeout": settings.connect_seconds,
                "keepalives_idle": settings.connect_seconds,
                "tcp_user_timeout": settings.statement_seconds * 1000,
                "application_name": "headgate",
                **{name: value for name, value in url.query.items() if name != "options"},
            },
            pool_size=settings.connections,
            max_overflow=settings.connections,
            pool_timeout=settings.lock_seconds,
            pool_pre_ping=True,
        )
    except ModuleNotFoundError as exc:
        raise InvalidRequest(
            "a lake on PostgreSQL needs its driver: pip install 'headgate[postgresql]'",
            code="HEADGATE_DRIVER_MISSING",
        ) from exc


def _configure(connection: Any, _record: object) -> None:
    # A database or role may have it off; then the server would acknowledge commits it can still lose.
    with connection.cursor() as cursor:
        if cursor.execute("SHOW synchronous_commit").fetchone()[0] == "off":
            cursor.execute("SET synchronous_commit = on")
    connection.commit()


def _check_durability(connection: Connection, settings: DatabaseSettings) -> None:
    for risk in DURABILITY_RISKS:
        if connection.scalar(text(f"SHOW {risk.setting}")) != risk.value:
            continue
        what = f"the database server runs with {risk.setting}={risk.value}: {risk.danger}"
        if risk.fatal and settings.require_durable:
            raise UnsafeDatabase(
                f"{what}; turn it on, or accept the loss with DatabaseSettings(require_durable=False)",
                setting=risk.setting,
            )
        _log.warning("%s", what)


def _wait_for_standby(connection: Connection) -> None:
    # A timeout would end the wait for the standby, and the commit be acknowledged without it.
    connection.execute(text("SET LOCAL statement_timeout = 0"))


def _prepare(connection: Connection) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
    # Asked first, because whoever may not create schemas may use one that is there.
    if connection.scalar(text("SELECT to_regnamespace(:name)"), {"name": SCHEMA}) is None:
        connection.execute(text(f"CREATE SCHEMA {SCHEMA}"))
