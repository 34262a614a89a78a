"""What belongs to Delta itself, names of domains and keys in them, is refused on every way in."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql.types import LongType, StructField, StructType

import headgate
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest
from headgate.plugins import coordinators as owners
from headgate.plugins import domain_handlers as domains
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import DomainMetadata
from headgate.protocol.domains import rules
from headgate.spark.data_files import write_options
from headgate.spark.streaming import stream_write_options
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation

COLUMNS = StructType([StructField("id", LongType())])
SEED = {"delta.deltaFeatureX.value1": "colA, colB", "delta.deltaFeatureX.value2": "x:00001,y:00002"}
"""What the proposal of metadata domains has for its example, in the domain ``deltaFeatureX``."""
RESERVED = {
    "a name": ("delta.x", "1"),
    "a name in capitals": ("DELTA.x", "1"),
    "a key": ("acme.x", '{"k":"1","delta.y":"1"}'),
    "a key in capitals": ("acme.x", '{"DELTA.y":"1"}'),
    "an escaped key": ("acme.x", '{"\\u0064elta.y":"1"}'),
    "a key of another domain": ("acme.x", '{"delta.acme.y.z":"1"}'),
    "a key that only begins like the domain": ("acme.x", '{"delta.acme.xy":"1"}'),
}
FREE = {
    "the example of the proposal": ("deltaFeatureX", msgspec.json.encode(SEED).decode()),
    "a key under its own name": ("acme.x", '{"Delta.Acme.X.y":"1"}'),
    "a key below the first level": ("acme.x", '{"k":{"delta.y":"1"}}'),
    "a value": ("acme.x", '{"k":"delta.y"}'),
    "no object": ("acme.x", '["delta.y"]'),
    "no JSON": ("acme.x", 'delta.y="delta.z'),
    "a name without a dot": ("delta", "1"),
}
Way = Callable[[Path, Mapping[str, str]], Any]


def _opened(folder: Path, **options: Any) -> headgate.Table:
    return headgate.at_path(folder / "t", columns=COLUMNS, **options)


def _owned(folder: Path, given: Mapping[str, str]) -> Any:
    return _opened(folder, owner=("one", {}), domains=given)


def _in_a_lake(use: Callable[[headgate.Lake, Mapping[str, str]], Any]) -> Way:
    def way(folder: Path, given: Mapping[str, str]) -> Any:
        with headgate.connect(folder / "lake") as lake:
            lake.create_schema("s")
            lake.create_table("s.t", COLUMNS)
            return use(lake, given)

    return way


def _in_a_transaction(lake: headgate.Lake, given: Mapping[str, str]) -> Any:
    with lake.transaction() as tx:
        return tx.table("s.t").change_domains(given)


def _made_in_a_transaction(lake: headgate.Lake, given: Mapping[str, str]) -> Any:
    with lake.transaction() as tx:
        return tx.create_table("s.new", COLUMNS, domains=given)


def _as_actions(table: OpenedTable, given: Mapping[str, str]) -> Any:
    """As code does that has actions of its own, of a handler for example."""
    base = table.snapshot()
    protocol = protocol_upgrade.with_features(base.state.protocol, [rules.DOMAIN_METADATA])
    written = (DomainMetadata(domain=name, configuration=text, removed=False) for name, text in given.items())
    return table.commit(Change(Operation("WRITE"), (protocol, *written)), base=base)


WAYS: Mapping[str, Way] = {
    "set_domain by path": lambda folder, given: [_opened(folder).set_domain(*each) for each in given.items()],
    "change_domains of an owner's": lambda folder, given: _opened(folder, owner=("one", {})).change_domains(
        given
    ),
    "at_path": lambda folder, given: _opened(folder, domains=given),
    "at_path with an owner": _owned,
    "create_table": _in_a_lake(lambda lake, given: lake.create_table("s.new", COLUMNS, domains=given)),
    "change_domains in a lake": _in_a_lake(lambda lake, given: lake.table("s.t").change_domains(given)),
    "a transaction": _in_a_lake(_in_a_transaction),
    "create_table in a transaction": _in_a_lake(_made_in_a_transaction),
    "append, overwrite, write, replace_table": lambda _, given: write_options.from_kwargs({"domains": given}),
    "write_stream": lambda _, given: stream_write_options.from_kwargs("append", {"domains": given}),
    "delete, update, merge, optimize, purge, restore": lambda _, given: rules.DomainSettings(given),
}


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "_COORDINATORS", owners.Coordinators())
    owner = LedgerCoordinator(MemoryLedger(), 1, SystemWorld())
    owners.register("one", lambda conf: owner)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("reserved", ["a name in capitals", "an escaped key"])
def test_what_belongs_to_delta_is_refused_on_every_way(tmp_path: Path, way: Way, reserved: str) -> None:
    with pytest.raises(InvalidRequest, match="belongs to Delta itself") as caught:
        way(tmp_path, dict([RESERVED[reserved]]))

    assert caught.value.code == "HEADGATE_DOMAIN_RESERVED"


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_the_example_of_the_proposal_is_let_in_on_every_way(tmp_path: Path, way: Way) -> None:
    way(tmp_path, {"deltaFeatureX": msgspec.json.encode(SEED).decode()})


@pytest.mark.parametrize(("name", "configuration"), RESERVED.values(), ids=RESERVED.keys())
def test_what_belongs_to_delta(name: str, configuration: str) -> None:
    with pytest.raises(InvalidRequest, match="belongs to Delta itself"):
        rules.DomainSettings({name: configuration})


@pytest.mark.parametrize(("name", "configuration"), FREE.values(), ids=FREE.keys())
def test_everything_else_belongs_to_users(name: str, configuration: str) -> None:
    assert rules.DomainSettings({name: configuration}).actions[0].configuration == configuration


@pytest.mark.parametrize(("name", "configuration"), list(RESERVED.values())[2:], ids=list(RESERVED)[2:])
def test_what_comes_as_actions_is_looked_at_too(tmp_path: Path, name: str, configuration: str) -> None:
    with pytest.raises(InvalidRequest, match="belongs to Delta itself"):
        _as_actions(_opened(tmp_path).log, {name: configuration})


def test_the_map_of_strings_takes_the_example_of_the_proposal(tmp_path: Path) -> None:
    table, feature = _opened(tmp_path), domains.StringMap("deltaFeatureX")

    feature.set(table, SEED)

    assert feature.get(_opened(tmp_path)) == SEED
    with pytest.raises(InvalidRequest, match=r"'delta\.other\.value1'.*'deltaFeatureX'"):
        feature.set(table, {"delta.other.value1": "colA"})


def test_a_domain_with_keys_of_delta_can_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another client may have written it."""
    with monkeypatch.context() as lenient:
        lenient.setattr(rules, "check_domain_keys", lambda *_: None)
        _opened(tmp_path).set_domain("acme.x", '{"delta.y":"1"}')

    _opened(tmp_path).remove_domain("acme.x")

    assert _opened(tmp_path).domains() == {}
