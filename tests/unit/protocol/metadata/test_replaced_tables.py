"""REPLACE without rows, through every route: what it keeps of the table, and what it leaves to the past."""

from collections.abc import Mapping

import pytest

from headgate.errors import ConcurrentAppend, InvalidRequest, MetadataChanged
from headgate.protocol.actions import DomainMetadata, Version
from headgate.protocol.features.coordinated_commits import CURRENT
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.spark.write import replace_table
from headgate.spark.write.replace_table import TableReplacement
from headgate.table.alter import set_properties
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from tests.support.altered import configuration, named, write
from tests.support.attempts import added
from tests.support.owned import append, coordinated
from tests.support.routes import COORDINATED, ROUTES, Place, coordinate, create, open_table
from tests.support.tables import SCHEMA

STAMPS = "delta.enableInCommitTimestamps"
PROVENANCE = (ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP)
OWNER = {CURRENT.coordinator: "another", CURRENT.conf: "{}"}
each_route = pytest.mark.parametrize("route", (*ROUTES, COORDINATED))


def replaced(
    table: OpenedTable, properties: Mapping[str, str] | None = None, defaults: Mapping[str, str] | None = None
) -> int:
    definition = TableDefinition(SCHEMA, properties=properties or {}, defaults=defaults or {})
    return replace_table.replace_table(table, TableReplacement(definition))


def made(route: str, *words: str) -> tuple[Place, OpenedTable]:
    place = create(words, managed=route in ("inline", "staged"))
    return place, coordinate(place) if route == COORDINATED else open_table(place, route)


def test_a_coordinated_table_keeps_its_owner_whatever_the_defaults() -> None:
    """S147"""
    place, _ = coordinated(2)
    table = place.opened()
    before = configuration(table)
    assert {CURRENT.coordinator, CURRENT.conf, CURRENT.table_conf, STAMPS, *PROVENANCE} <= before.keys()

    for defaults in ({}, OWNER, {CURRENT.coordinator: "alone"}, {STAMPS: "false"}):
        replaced(table, {"mine": "x"}, defaults)

        assert configuration(table) == {**before, "mine": "x"}
    assert append(place.opened(), "z") == [8]
    stamps = [entry.info.in_commit_timestamp for entry in table.history()[:-1]]
    assert stamps == sorted(set(stamps), reverse=True)  # type: ignore[type-var]


@pytest.mark.parametrize("route", ["filesystem", COORDINATED])
@pytest.mark.parametrize("said", [OWNER, *({name: "{}"} for name in CURRENT.properties)])
def test_a_replacement_names_no_owner(route: str, said: Mapping[str, str]) -> None:
    """S147"""
    _, table = made(route)
    before = table.snapshot()

    with pytest.raises(InvalidRequest) as caught:
        replaced(table, said)

    assert caught.value.code == "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS"
    assert table.snapshot().version == before.version


def test_an_ordinary_table_takes_timestamps_by_default_and_no_owner() -> None:
    """S147, S113"""
    _, table = made("filesystem")

    replaced(table, None, {**OWNER, STAMPS: "true", "delta.feature.catalogManaged": "supported"})

    after = table.snapshot().state
    assert after.metadata.configuration.keys() == {STAMPS, *PROVENANCE}
    assert after.metadata.configuration[ENABLEMENT_VERSION] == "1"
    assert after.info is not None
    assert after.info.in_commit_timestamp is not None
    assert not {CURRENT.feature, "catalogManaged", "vacuumProtocolCheck"} & named(table)


@pytest.mark.parametrize("said", [{STAMPS: "false"}, {}], ids=["false", "unsaid"])
def test_an_ordinary_table_loses_its_timestamps_if_it_is_not_said_to_have_them(
    said: Mapping[str, str],
) -> None:
    """S165: with what was said of since when."""
    place, table = made("filesystem")
    set_properties.set_properties(table, {STAMPS: "true"})
    assert configuration(table).keys() >= {STAMPS, *PROVENANCE}

    replaced(table, said)

    assert configuration(table) == said
    info = table.snapshot().state.info
    assert info is not None
    assert info.in_commit_timestamp is None
    assert replaced(open_table(place, "filesystem"), {STAMPS: "true"}) == 3
    assert configuration(table)[ENABLEMENT_VERSION] == "3"


@each_route
def test_a_domain_of_a_system_we_do_not_know_survives_whatever_we_do(route: str) -> None:
    """S202"""
    place, table = made(route, "feature:domainMetadata")
    theirs = DomainMetadata(domain="delta.ofTomorrow", configuration='{"since": 9}', removed=False)
    first = file_names.published_path(Version(0))  # no catalog of ours would take it later
    place.store.put(first, place.store.read(first) + codec.encode((theirs,)))
    table = open_table(place, route)

    write(table, added("a", {}))
    table.checkpoint()
    replaced(table, {"mine": "x"})
    assert table.domains() == {"delta.ofTomorrow": '{"since": 9}'}
    write(table, added("b", {}))
    table.checkpoint()

    afresh = open_table(place, route)
    assert afresh.snapshot().state.domains["delta.ofTomorrow"] == theirs


@each_route
def test_an_append_to_a_table_that_was_replaced_meanwhile_is_refused(route: str) -> None:
    """Its rows were meant for another table."""
    place, table = made(route)
    write(table, added("old", {}))
    base = table.snapshot()

    replaced(open_table(place, route), {"mine": "x"})
    with pytest.raises(MetadataChanged):
        table.commit(Change(Operation("WRITE"), (added("new", {}),)), base=base)

    assert open_table(place, route).snapshot().files.columns.num_rows == 0


@each_route
def test_a_table_is_not_replaced_from_under_rows_that_came_meanwhile(
    route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, table = made(route)
    write(table, added("old", {}))
    rival, commit = open_table(place, route), table.commit

    def late(change: Change, **base: object) -> object:
        write(rival, added("new", {}))
        return commit(change, **base)  # type: ignore[arg-type]

    monkeypatch.setattr(table, "commit", late)
    with pytest.raises(ConcurrentAppend):
        replaced(table)

    found = open_table(place, route).snapshot().files.columns["path"].to_pylist()
    assert sorted(found) == ["new", "old"]
