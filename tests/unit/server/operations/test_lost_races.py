"""Who lost a race for a version is remembered, with the versions that were there first."""

from pathlib import Path

from headgate.catalog.ports.commits import Lost, Ratified, TableId
from headgate.catalog.ports.groups import GroupId, GroupLost, GroupProposal
from headgate.protocol.actions import Version
from headgate.server.operations import lost_races
from headgate.server.operations.lost_races import LostRace, LostRaces
from headgate.server.operations.metered_catalog import meter
from headgate.server.operations.metrics import ServerMetrics
from tests.support.catalogs import a_catalog
from tests.support.proposals import fresh, inline
from tests.support.tables import create_managed


def test_the_latest_come_first_and_only_of_the_lake_that_is_asked_for() -> None:
    races = LostRaces()
    for number, lake in enumerate(("main", "other", "main")):
        races.add(LostRace(lake, TableId("t"), "ada", Version(1), (Version(1),), number))

    assert [race.at_ms for race in races.latest("main")] == [2, 0]


def test_a_catalog_that_is_metered_remembers_who_lost_to_what(tmp_path: Path) -> None:
    metrics = ServerMetrics()
    with a_catalog("sqlite", tmp_path) as catalog:
        table_id = create_managed(catalog).table_id
        metered = meter("main", catalog, metrics)

        assert isinstance(metered.propose(fresh(table_id, 1, "first")), Ratified)
        assert metrics.lost_races.latest("main") == ()
        assert isinstance(metered.propose(fresh(table_id, 1, "second")), Lost)
        group = GroupProposal(GroupId("g"), (fresh(table_id, 1, "third"),))
        assert isinstance(metered.propose_group(group), GroupLost)

    of_group, alone = metrics.lost_races.latest("main")
    assert (alone.table_id, alone.principal, alone.target, alone.winners) == (table_id, "owner", 1, (1,))
    assert of_group.is_group and of_group.winners == (1,)
    assert metrics.lake_samples("main")["conflict"] == 2
    assert metrics.lake_samples("main")["unpublished"] is None


def test_what_was_proposed_is_remembered_of_the_latest_and_of_none_that_is_long() -> None:
    races = LostRaces()
    for number in range(60):
        proposal = inline(TableId("t"), 1, f"t{number}", data=b"x")
        races.add(
            LostRace(
                "main",
                TableId("t"),
                "ada",
                Version(1),
                (),
                number,
                proposal=lost_races.lost_proposal(proposal),
            )
        )
    remembered = [race.proposal for race in races.latest("main")]
    long = lost_races.lost_proposal(inline(TableId("t"), 1, "t", data=b"x" * 100_000))

    assert [each is not None and each.content is not None for each in remembered] == [True] * 50 + [
        False
    ] * 10
    assert all(each is not None and each.txn_id for each in remembered)
    assert long.content is None
    assert races.find("main", races.latest("main")[3].race_id) is races.latest("main")[3]
    assert races.find("other", races.latest("main")[3].race_id) is None
