"""Which coordinators there are: registered by the program, brought by packages, built once per conf."""

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pyspark.sql.types import LongType, StructType

import headgate
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.ports.coordinator import CommitCoordinator
from headgate.errors import InvalidRequest
from headgate.plugins import coordinators as owners
from headgate.plugins import registry
from headgate.protocol.features.coordinated_commits import CURRENT


@pytest.fixture
def built() -> Iterator[list[Mapping[str, str]]]:
    """The confs that the owner ``acme`` was built from."""
    found: list[Mapping[str, str]] = []

    def build(conf: Mapping[str, str]) -> CommitCoordinator:
        found.append(conf)
        return owners.in_memory()

    owners.register("acme", build)
    yield found
    if "acme" in owners.registered():
        owners.unregister("acme")


def test_an_owner_is_built_once_from_the_conf_it_is_given(built: list[Mapping[str, str]]) -> None:
    one, two = owners.find("acme", {"a": "1"}), owners.find("acme", {"a": "2"})

    assert owners.find("acme", {"a": "1"}) is one
    assert one != two
    assert built == [{"a": "1"}, {"a": "2"}]
    assert owners.find("nobody", {}) is None
    assert {"acme", "headgate"} <= owners.registered()


def test_a_name_has_one_builder(built: list[Mapping[str, str]]) -> None:
    """S139"""
    for name in ("acme", "headgate"):
        with pytest.raises(InvalidRequest, match=f"{name}' already"):
            owners.register(name, lambda conf: owners.in_memory())
    with pytest.raises(InvalidRequest, match="function of its conf"):
        owners.register("other", "text")  # type: ignore[arg-type]


def test_a_forgotten_owner_is_built_anew(built: list[Mapping[str, str]]) -> None:
    first = owners.find("acme", {})
    owners.unregister("acme")
    assert owners.find("acme", {}) is None
    with pytest.raises(InvalidRequest, match="no coordinator"):
        owners.unregister("acme")

    owners.register("acme", lambda conf: owners.in_memory())

    assert owners.find("acme", {}) is not first


def test_a_package_can_bring_an_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = [EntryPoint("packaged", "headgate.plugins.coordinators:in_memory_of", owners.GROUP)]
    monkeypatch.setattr(owners, "in_memory_of", lambda conf: owners.in_memory(), raising=False)

    monkeypatch.setattr(registry, "entry_points", lambda group: tuple(offers))
    fresh = owners.Coordinators()

    assert fresh.find("packaged", {}) is not None
    assert "packaged" in fresh.builders.registered()
    offers.append(EntryPoint("packaged", "elsewhere:build", owners.GROUP))
    with pytest.raises(InvalidRequest, match="more than one"):
        owners.Coordinators().find("packaged", {})


def test_the_owner_of_a_lake_is_found_by_its_conf_alone(tmp_path: Path) -> None:
    conf = {"lake": str(tmp_path / "lake"), "batch": "5"}

    assert owners.find("headgate", conf) == owners.find("headgate", {"lake": conf["lake"]})
    for wrong in ({}, {"lake": "relative"}, {**conf, "batch": "none"}):
        with pytest.raises(InvalidRequest):
            owners.find("headgate", wrong)


def test_a_table_is_given_to_an_owner_and_taken_back(tmp_path: Path) -> None:
    conf = {"lake": str(tmp_path / "lake")}
    table = headgate.at_path(
        tmp_path / "t", columns=StructType().add("id", LongType()), owner=("headgate", conf)
    )

    assert table.version() == 0
    assert table.uncoordinate() == 1
    assert table.coordinate("headgate", conf) == 2
    assert headgate.at_path(tmp_path / "t").version() == 2


def test_an_owner_is_for_tables_that_are_made(tmp_path: Path) -> None:
    """S145: and the properties of one are not set by hand."""
    columns = StructType().add("id", LongType())

    with pytest.raises(InvalidRequest, match="give its columns"):
        headgate.at_path(tmp_path, owner=("headgate", {}))
    with pytest.raises(InvalidRequest) as caught:
        headgate.at_path(tmp_path, columns=columns, properties={CURRENT.coordinator: "headgate"})
    assert caught.value.code == "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND"
    with pytest.raises(InvalidRequest):
        headgate.at_path(
            tmp_path, columns=columns, properties={CURRENT.coordinator: "headgate", CURRENT.conf: "{}"}
        )
    assert not list(tmp_path.rglob("*.json"))


def test_coordinators_over_the_same_ledger_are_the_same() -> None:
    kept = MemoryLedger()

    assert owners.over_ledger(kept, batch=3) == owners.over_ledger(kept)
    assert owners.over_ledger(kept) != owners.over_ledger(MemoryLedger())
