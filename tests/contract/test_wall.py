"""Who may call what? Every method of every port, asked by five callers who know all ids there are.

A letter for each caller says what becomes of the call. ``H``: as if there were nothing of that id or name, to
the letter of the answer (T14). ``R``: refused. ``+``: done, or told. ``=``: done for themselves alone.
``E``: allowed, and then something else is wrong with it.
"""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import AccessControl, AccessTokens, TokenScope
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import RatifiedCommit, StagedCommit
from headgate.catalog.ports.directory import ExternalTables, TableDisposal, TableName
from headgate.catalog.ports.directory_copy import CopiedTable, DirectoryCopying, read_copy
from headgate.catalog.ports.events import EventFeed
from headgate.catalog.ports.external_versions import StagedFiles
from headgate.catalog.ports.handover import TableAdoptions, TableReleases
from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.leases import TableLeases
from headgate.catalog.ports.ledger import Ledger, Registration
from headgate.catalog.ports.maintenance import Maintenance, MaintenancePermissions
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.ports.serving import LogHints
from headgate.errors import CommitRefused, HeadgateError, NotAllowed, NotAuthenticated
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.storage.credentials import StorageOperation
from headgate.storage.locate import locate
from tests.support import walled
from tests.support.proposals import fresh
from tests.support.walled import CALLERS, HOUR, Known, Walled

Call = Callable[[Catalog, Known], Any]
MINE = "mine"


class Row(NamedTuple):
    """A method, a call of it, and what becomes of that: stranger, reader, appender, table and lake owner."""

    method: str
    call: Call
    answers: str


def _next(known: Known, *, by: str) -> Any:
    return fresh(known.table_id, 3, f"next of {by}")


def _group(catalog: Catalog, known: Known, **parts: Any) -> Any:
    return type(known.group)(f"new of {catalog.principal}", **parts)


def _who(catalog: Catalog) -> str:
    return catalog.principal


VACUUM = Maintenance.DATA_CLEANUP
OWNED = Registration("owned", "/elsewhere", "m", Version(1), Version(1), Version(0), accepting=True)
OWNED_COMMIT = RatifiedCommit(Version(1), TxnId("x"), EpochMillis(1), StagedCommit("x.json"))
ROWS: tuple[Row, ...] = (
    # commits
    Row("propose", lambda c, k: c.propose(_next(k, by=_who(c))), "HR+++"),
    Row("propose", lambda c, k: c.propose(k.group.proposals[0]), "HRR++"),
    Row("outcome_of", lambda c, k: c.outcome_of(k.table_id, TxnId("first"), Version(1)), "H++++"),
    Row("tail", lambda c, k: c.tail(k.table_id), "H++++"),
    Row("mark_published", lambda c, k: c.mark_published(k.table_id, Version(0)), "HR+++"),
    Row("propose_group", lambda c, k: c.propose_group(_group(c, k, proposals=(_next(k, by=_who(c)),))),
        "HR+++"),
    Row("propose_group", lambda c, k: c.propose_group(k.group), "HRR++"),
    Row("propose_group", lambda c, k: c.propose_group(_group(c, k, drops=(k.table_id,))), "HRR++"),
    Row("propose_group", lambda c, k: c.propose_group(
        _group(c, k, drops=(k.dropped_id,), read_only={k.table_id: Version(0)})), "H++++"),
    Row("outcome_of_group", lambda c, k: c.outcome_of_group(k.group), "HRR++"),
    Row("tails", lambda c, k: c.tails([k.table_id]), "H++++"),
    Row("pin", lambda c, k: c.pin([k.name]), "H++++"),
    Row("pin", lambda c, k: c.pin([], [k.table_id]), "H++++"),
    # names
    Row("create_schema", lambda c, k: c.create_schema(k.name.schema), "R++++"),
    Row("schemas", lambda c, _: c.schemas(), "H++++"),
    Row("drop_schema", lambda c, k: c.drop_schema(k.name.schema), "HRRRE"),
    Row("stage", lambda c, k: c.stage(TableName(k.name.schema, "x")), "HRR++"),
    Row("find_staging", lambda c, k: c.find_staging(k.staging.table_id), "HHH++"),
    Row("stage", lambda c, k: c.stage(TableName(k.name.schema, k.name.table)), "HRREE"),
    Row("register", lambda c, k: c.register(k.staging, k.new), "HHH++"),
    Row("resolve", lambda c, k: c.resolve(k.name), "H++++"),
    Row("tables", lambda c, k: c.tables(k.name.schema), "H++++"),
    Row("tables", lambda c, _: c.tables(), "H++++"),
    Row("drop", lambda c, k: c.drop(k.name), "HRR++"),
    Row("resolve_all", lambda c, k: c.resolve_all([k.name]), "H++++"),
    Row("resolve_id", lambda c, k: c.resolve_id(k.table_id), "H++++"),
    Row("rename", lambda c, k: c.rename(k.name, TableName(k.name.schema, "x")), "HRR++"),
    Row("dropped", lambda c, _: c.dropped(), "H++++"),
    Row("undrop", lambda c, k: c.undrop(k.dropped), "HRR++"),
    Row("undrop", lambda c, k: c.undrop(k.dropped, table_id=k.dropped_id), "HRR++"),
    Row("check_may_purge", lambda c, k: c.check_may_purge(k.table_id), "HRR++"),
    # readers
    Row("load", lambda c, k: c.load(k.name), "H++++"),
    Row("note_log", lambda c, k: c.note_log(k.table_id, LogHints(checksum=Version(1))), "H++++"),
    Row("version_at", lambda c, k: c.version_at(k.table_id, EpochMillis(0)), "H++++"),
    Row("commits", lambda c, k: c.commits(k.table_id), "H++++"),
    Row("import_external_versions", lambda c, k: c.import_external_versions(k.table_id), "H++++"),
    Row("credentials", lambda c, k: c.credentials(k.table_id, StorageOperation.READ), "H++++"),
    Row("credentials", lambda c, k: c.credentials(k.table_id, StorageOperation.READ_WRITE), "HR+++"),
    Row("credentials", lambda c, k: c.credentials(k.staging.table_id, StorageOperation.READ_WRITE), "HHH++"),
    # versions of others
    Row("share_log", lambda c, k: c.share_log(k.frozen.name), "HRR++"),
    Row("accept_version", lambda c, k: c.accept_version(k.name, Version(1)), "HRR++"),
    Row("set_aside_version", lambda c, k: c.set_aside_version(k.name, Version(9)), "HRREE"),
    Row("ahead", lambda c, _: c.ahead(), "HHHH+"),
    # events
    Row("events.after", lambda c, _: c.events.after(0), "H++++"),
    Row("events.window", lambda c, _: c.events.window(), "H++++"),
    Row("events.forget", lambda c, _: c.events.forget(HOUR), "RRRR+"),
    Row("events.load_cursor", lambda c, _: c.events.load_cursor(MINE), "====="),
    Row("events.save_cursor",
        lambda c, _: c.events.save_cursor(MINE, len(_who(c))) or c.events.load_cursor(MINE), "====="),
    # leases
    Row("leases.on_version",
        lambda c, k: c.leases.on_version(k.table_id, Version(1), holder="x", ttl_ms=HOUR), "H++++"),
    Row("leases.on_work", lambda c, k: c.leases.on_work(f"w/{k.table_id}", holder="x", ttl_ms=HOUR), "HRR++"),
    Row("leases.renew", lambda c, k: c.leases.renew(k.lease, ttl_ms=HOUR), "HHH++"),
    Row("leases.check", lambda c, k: c.leases.check(k.lease), "HHH++"),
    Row("leases.release", lambda c, k: c.leases.release(k.lease), "HHH++"),
    Row("leases.horizon", lambda c, k: c.leases.horizon(k.table_id), "H++++"),
    Row("leases.give_up", lambda c, k: c.leases.give_up(k.table_id, before=Version(1)), "HRR++"),
    Row("leases.vacuumed", lambda c, k: c.leases.vacuumed(k.table_id), "H++++"),
    Row("leases.live", lambda c, _: c.leases.live(), "H++++"),
    Row("leases.live", lambda c, k: c.leases.live(k.table_id), "H++++"),
    Row("leases.sweep", lambda c, _: c.leases.sweep(), "====="),
    # maintenance
    Row("permissions.check", lambda c, k: c.permissions.check(k.table_id, VACUUM, "VACUUM"), "HRR++"),
    Row("permissions.permitted_kinds", lambda c, k: c.permissions.permitted_kinds(k.table_id), "H++++"),
    Row("permissions.thresholds", lambda c, k: c.permissions.thresholds(k.table_id), "H++++"),
    Row("permissions.permit", lambda c, k: c.permissions.permit(k.table_id, VACUUM), "HRR++"),
    Row("permissions.forbid", lambda c, k: c.permissions.forbid(k.table_id, VACUUM), "HRR++"),
    # disposal
    Row("disposal.abandoned", lambda c, _: c.disposal.abandoned(), "HHH++"),
    Row("disposal.condemned", lambda c, k: c.disposal.condemned(TableName(k.name.schema, "bad")), "HHH++"),
    Row("disposal.condemn", lambda c, k: c.disposal.condemn(k.dropped_id), "HHH++"),
    Row("disposal.forget", lambda c, k: c.disposal.forget(k.condemned_id), "HHH++"),
    Row("disposal.forget_keeping_files", lambda c, k: c.disposal.forget_keeping_files(k.dropped_id), "HHH++"),
    Row("publications.ratified_names",
        lambda c, k: c.publications.ratified_names(k.table_id, ["x"]), "H++++"),
    # books
    Row("books.read", lambda c, k: c.books(k.table_id).read(), "H++++"),
    Row("books.mark_published", lambda c, k: c.books(k.table_id).mark_published(Version(0)), "HR+++"),
    Row("books.forget_description", lambda c, k: c.books(k.table_id).forget_description(), "HRR++"),
    # who may do what
    Row("granting.grant", lambda c, k: c.granting.grant("read", str(k.name), "x"), "HRR++"),
    Row("granting.grant", lambda c, k: c.granting.grant("read", k.name.schema, "x"), "HRRR+"),
    Row("granting.grant", lambda c, _: c.granting.grant("read", None, "x"), "RRRR+"),
    Row("granting.revoke", lambda c, k: c.granting.revoke("read", str(k.name), "reader"), "HRR++"),
    Row("granting.grants", lambda c, _: c.granting.grants(), "H++++"),
    Row("granting.limit_unpublished", lambda c, _: c.granting.limit_unpublished("x", 1), "RRRR+"),
    Row("granting.add_member", lambda c, _: c.granting.add_member("g", _who(c) + "2"), "RRRR+"),
    Row("granting.remove_member", lambda c, _: c.granting.remove_member("g", "x"), "RRRR+"),
    Row("granting.groups", lambda c, _: c.granting.groups(), "====="),
    Row("granting.set_rule", lambda c, k: c.granting.set_rule("max_commit_files", 9, str(k.name)), "HRR++"),
    Row("granting.set_rule", lambda c, k: c.granting.set_rule("max_commit_files", 9, k.name.schema), "HRRR+"),
    Row("granting.allow_files", lambda c, k: c.granting.allow_files(str(k.name), "/elsewhere"), "HRRR+"),
    Row("granting.allow_clone_locations",
        lambda c, k: c.granting.allow_clone_locations(k.staging.table_id, ["/elsewhere"]), "HHHR+"),
    Row("granting.allow_clone_of", lambda c, k: c.granting.allow_clone_of(k.table_id, k.name), "HRR++"),
    Row("granting.allow_clone_locations",
        lambda c, k: c.granting.allow_clone_locations(k.table_id, ["/elsewhere"]), "HRRR+"),
    Row("granting.add_foreign_key",
        lambda c, k: c.granting.add_foreign_key(str(k.name), ["id"], str(k.name), ["id"]), "HRREE"),
    Row("granting.drop_foreign_key",
        lambda c, k: c.granting.drop_foreign_key(str(k.name), ["id"], str(k.name)), "HRR++"),
    Row("granting.foreign_keys", lambda c, k: c.granting.foreign_keys(str(k.name)), "H++++"),
    # tokens
    Row("tokens.create", lambda c, _: c.tokens.create("holder", ttl_ms=HOUR), "RRRR+"),
    Row("tokens.create",
        lambda c, _: c.tokens.create(_who(c), ttl_ms=HOUR, scope=TokenScope()).token.principal, "====="),
    Row("tokens.exchange", lambda c, k: c.tokens.exchange(k.token_id, k.secret, ttl_ms=HOUR), "RRRR+"),
    Row("tokens.authenticate", lambda c, k: c.tokens.authenticate(k.secret), "RRRRR"),
    Row("tokens.tokens", lambda c, _: c.tokens.tokens(), "HHHH+"),
    Row("tokens.revoke", lambda c, k: c.tokens.revoke(k.token_id), "HHHH+"),
    # tables that come and go
    Row("adoptions.claim", lambda c, k: c.adoptions.claim(
        TableName(k.name.schema, "y"), f"/tmp/of {_who(c)}", Version(0), _who(c)), "HRR++"),
    Row("adoptions.claim", lambda c, k: c.adoptions.claim(k.name, "/tmp/x", Version(0), "maker"), "RRREE"),
    Row("adoptions.check", lambda c, k: c.adoptions.check(
        TableName(k.name.schema, "y"), "/tmp/x", _who(c)), "HRR++"),
    Row("adoptions.find", lambda c, k: c.adoptions.find(k.name, _place(c, k), k.table_id, _who(c)), "H++++"),
    Row("adoptions.find_adopted", lambda c, k: c.adoptions.find_adopted(_as_claim(k)), "H++++"),
    Row("adoptions.under_way", lambda c, _: c.adoptions.under_way(), "H++++"),
    Row("adoptions.settle", lambda c, k: c.adoptions.settle(k.table_id), "H++++"),
    Row("adoptions.settle", lambda c, k: c.adoptions.settle(k.claim.table_id), "HHH++"),
    Row("releases.freeze", lambda c, k: c.releases.freeze(k.table_id, _who(c)), "HRR++"),
    Row("releases.freeze", lambda c, k: c.releases.freeze(k.table_id, "maker"), "RRR++"),
    Row("releases.begin_release", lambda c, k: c.releases.begin_release(k.frozen), "HRR++"),
    Row("releases.stay", lambda c, k: c.releases.stay(k.frozen), "HRR++"),
    Row("releases.find_departure", lambda c, k: c.releases.find_departure(k.frozen.table_id), "H++++"),
    Row("releases.settle", lambda c, k: c.releases.settle(k.frozen.table_id), "H++++"),
    # what the lake decides as the coordinator of other tables
    Row("ledger.records", lambda c, _: c.ledger.records("/elsewhere"), "RRRR+"),
    Row("ledger.open", lambda c, _: c.ledger.open(OWNED), "RRRR+"),
    Row("ledger.find", lambda c, _: c.ledger.find(OWNED.table_id), "RRRR+"),
    Row("ledger.write", lambda c, _: c.ledger.write(OWNED.table_id, OWNED_COMMIT, accepting=True), "RRRR+"),
    Row("ledger.commits", lambda c, _: c.ledger.commits(OWNED.table_id, Version(0)), "RRRR+"),
    Row("ledger.publish", lambda c, _: c.ledger.publish(OWNED.table_id, Version(1)), "RRRR+"),
    # ordinary tables that have a name here
    Row("externals.register_external",
        lambda c, k: c.externals.register_external(TableName(k.name.schema, "o"), "/elsewhere/o"), "RRRR+"),
    Row("externals.find_external", lambda c, k: c.externals.find_external(k.name), "HHHHE"),
    Row("externals.external_tables", lambda c, k: c.externals.external_tables(k.name.schema), "HHHH+"),
    Row("externals.forget_external", lambda c, k: c.externals.forget_external(k.name), "RRRR+"),
    # a lake that is lost
    Row("copies.write_now", lambda c, k: c.copies.write_now(forgotten=(k.table_id,)), "====="),
    Row("copies.write_now", lambda c, _: c.copies.write_now(recovered=True), "RRRR+"),
    Row("copies.find_lost_tables", lambda c, _: c.copies.find_lost_tables(), "====="),
    Row("recoveries.known_tables", lambda c, _: c.recoveries.known_tables(), "RRRR+"),
    Row("recoveries.make_schemas", lambda c, _: c.recoveries.make_schemas(["x"]), "RRRR+"),
    Row("recoveries.enter", lambda c, _: c.recoveries.enter, "RRRR+"),
    Row("recoveries.latest", lambda c, k: c.recoveries.latest(k.table_id), "RRRR+"),
    Row("recoveries.rename", lambda c, k: c.recoveries.rename(CopiedTable(
        table_id=k.table_id, schema="s", table="t", location="x", latest=0, published=0)), "RRRR+"),
)  # fmt: skip

TELLS_NOTHING = {
    "acting_as": "in one process only: no server offers it",
    "close": "in one process only",
    "warehouse": "where a client writes the files of new tables",
    "principal": "who asks",
    "writes": "a number of this object",
    "events.newest": "a number, and so is every cursor that is told",
    "events.list_pending": "gives events their places, which somebody must",
    "leases.now_ms": "the time",
    "permissions.for_background_work": "the same, with fewer permissions",
    "copies.write_if_due": "writes what is true",
    "copies.write_if_changed": "writes what is true",
    "copies.is_new": "whether there is anything at all",
}
"""What anybody may call, and why."""

PARTS: dict[str, type] = {
    "events": EventFeed, "leases": TableLeases, "permissions": MaintenancePermissions,
    "disposal": TableDisposal, "publications": StagedFiles, "books": TableBooks, "granting": AccessControl,
    "tokens": AccessTokens, "adoptions": TableAdoptions, "releases": TableReleases,
    "ledger": Ledger, "externals": ExternalTables, "copies": DirectoryCopying, "recoveries": CatalogRecovery,
}  # fmt: skip


def _place(catalog: Catalog, known: Known) -> str:
    return f"{catalog.warehouse}/{known.table_id}"


def _as_claim(known: Known) -> Any:
    return known.claim.__class__(
        known.table_id, known.claim.phase, known.name, "x", Version(0), TxnId("x"), "maker", EpochMillis(0)
    )


def _methods(port: type) -> set[str]:
    return {
        name
        for name, member in inspect.getmembers(port)
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }


def test_every_method_of_every_port_is_in_a_row() -> None:
    parts = {
        name
        for name in _methods(LakeCatalog)
        if isinstance(member := getattr(LakeCatalog, name), property)
        and get_type_hints(member.fget)["return"] in PARTS.values()
    }
    assert parts | {"books"} == set(PARTS)
    wanted = (_methods(LakeCatalog) - set(PARTS)) | {
        f"{part}.{name}" for part, port in PARTS.items() for name in _methods(port)
    }

    assert {row.method for row in ROWS} | set(TELLS_NOTHING) == wanted


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Known]:
    folder = tmp_path_factory.mktemp("template") / "lake"
    return folder, walled.build(folder)


def _answer(call: Call, view: Catalog, known: Known) -> tuple[object, str]:
    """What came of it, and the same as a text in which what was asked about has no name."""
    try:
        result = call(view, known)
    except HeadgateError as exc:
        text = f"{type(exc).__name__} {exc.code} {exc.message} {sorted(exc.fields)}"
        return exc, _nameless(text, known)
    return result, _nameless(repr(result), known)


def _nameless(text: str, known: Known) -> str:
    for word in known.words():
        text = text.replace(word, "…")
    return text


@pytest.mark.parametrize("number", range(len(ROWS)), ids=lambda number: f"{ROWS[number].method}-{number}")
def test_the_wall(template: tuple[Path, Known], tmp_path: Path, number: int) -> None:
    row = ROWS[number]
    for caller, letter in zip(CALLERS, row.answers, strict=True):
        with walled.a_copy(template[0], tmp_path / caller, template[1]) as lake:
            _check(lake, row, caller, letter)


@pytest.fixture(scope="module")
def on_postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walled]:
    with walled.on_postgresql(tmp_path_factory.mktemp("postgresql")) as lake:
        yield lake


@pytest.mark.parametrize("number", range(len(ROWS)), ids=lambda number: f"{ROWS[number].method}-{number}")
def test_the_wall_on_postgresql(on_postgresql: Walled, number: int) -> None:
    """Of a lake that all rows share, because what is hidden or refused changes nothing."""
    row = ROWS[number]
    for caller, letter in zip(CALLERS, row.answers, strict=True):
        if letter in "HR":
            _check(on_postgresql, row, caller, letter)


def _check(lake: Walled, row: Row, caller: str, letter: str) -> None:
    view, before = lake.view(caller), _state(lake)
    _, missing = _answer(row.call, view, lake.missing())
    found, told = _answer(row.call, view, lake.real)
    what = f"{row.method} by {caller}: {found!r}"
    match letter:
        case "H":
            assert told == missing, what
            assert _state(lake) == before, what
        case "R":
            assert isinstance(found, NotAllowed | CommitRefused | NotAuthenticated), what
            assert _state(lake) == before, what
        case "=":
            assert not isinstance(found, HeadgateError), what
            assert caller == "owner" or _state(lake) == before, what
        case "E":
            assert isinstance(found, HeadgateError), what
            assert not isinstance(found, NotAllowed | CommitRefused), what
        case _:
            assert not isinstance(found, HeadgateError), what


def _state(lake: Walled) -> object:
    owner, real = lake.owner, lake.real
    with owner._database.reading() as db:
        rows = {
            name: sorted(map(repr, db.exec_driver_sql(f"SELECT * FROM {name}")))
            for name in TABLES_THAT_MATTER
        }
    copied = read_copy(locate(owner.warehouse))
    return rows, copied is None or real.table_id in copied.by_id


TABLES_THAT_MATTER = (
    "tables", "commits", "leases", "fences", "grants", "principals", "memberships", "commit_rules",
    "file_sources", "foreign_keys", "permissions", "transfers", "log_hints", "schemas", "purged_tables",
)  # fmt: skip


def test_events_of_refused_strangers_are_not_written(template: tuple[Path, Known], tmp_path: Path) -> None:
    """T10: who may not know of a table cannot fill its lake with refusals."""
    with walled.a_copy(template[0], tmp_path / "lake", template[1]) as lake:
        before = lake.owner.events.newest()
        with pytest.raises(HeadgateError):
            lake.view("stranger").propose(_next(lake.real, by="stranger"))

        assert lake.owner.events.newest() == before
