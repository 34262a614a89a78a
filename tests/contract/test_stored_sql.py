"""Hostile SQL text comes into no table, whichever door it is brought to."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

import headgate
from headgate import Lake
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.errors import HeadgateError
from headgate.protocol.actions import CommitInfo, Metadata, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table.alter import create, restore
from headgate.table.alter.create import TableDefinition
from headgate.table.transaction import Change, Operation
from tests.support import adopted, tables
from tests.support.broken_commits import with_features
from tests.support.governed import Place, place, shared
from tests.support.handmade import column, write_log
from tests.support.hostile_sql import ALLOWED, HOSTILE
from tests.support.proposals import stamp

__all__ = ["place", "shared"]

WRITERS = ("checkConstraints", "generatedColumns", "allowColumnDefaults", "invariants")
RUNS = HOSTILE[0]
Storing = Callable[[Metadata, str], Metadata]


def _constraint(metadata: Metadata, text: str) -> Metadata:
    configuration = {**metadata.configuration, "delta.constraints.c": text}
    return msgspec.structs.replace(metadata, configuration=configuration)


def _column(key: str) -> Storing:
    def store(metadata: Metadata, text: str) -> Metadata:
        said = msgspec.json.encode({"expression": {"expression": text}}).decode() if "inv" in key else text
        fields = schema_json.parse(metadata.schema_string).fields
        more = Field("more", Primitive("string"), metadata={key: said})
        return msgspec.structs.replace(metadata, schema_string=schema_json.render(Struct((*fields, more))))

    return store


STORED: dict[str, Storing] = {
    "constraint": _constraint,
    "generated": _column("delta.generationExpression"),
    "default": _column("CURRENT_DEFAULT"),
    "invariant": _column("delta.invariants"),
}
each_place = pytest.mark.parametrize("stored", STORED)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with headgate.connect(tmp_path / "lake", settings=Settings(publish=Publish.ON_DEMAND)) as opened:
        opened.create_schema("s")
        yield opened


def refused(bring: Callable[[], object]) -> None:
    with pytest.raises(HeadgateError) as no:
        bring()
    assert no.value.code == "HEADGATE_UNSAFE_EXPRESSION"


def hostile_folder(folder: Path) -> str:
    """Somebody else's table, with a constraint that runs code."""
    columns = [column("id", "long")]
    write_log(folder, columns, [], writers=["checkConstraints"], delta_constraints_c=RUNS)
    return str(folder)


@each_place
def test_no_proposal_brings_it(place: Place, stored: str) -> None:
    told, store = place.told(), STORED[stored]
    protocol = with_features(told.protocol, *WRITERS)

    for text in HOSTILE:
        refused(lambda text=text: place.propose(protocol, store(told.metadata, text)))  # type: ignore[misc]

    assert place.told() == told
    assert place.propose(protocol, store(told.metadata, ALLOWED[0])) is not None


@each_place
def test_no_new_table_has_it(stored: str) -> None:
    opening = create.initial_state(TableDefinition(tables.SCHEMA), managed=False, world=SystemWorld())
    metadata = STORED[stored](opening.metadata, RUNS)
    hostile = create.InitialState(opening.protocol, metadata)

    refused(
        lambda: create.first_commit_content(
            hostile, create.no_initial_rows(managed=False), world=SystemWorld()
        )
    )


@each_place
def test_no_commit_by_path_brings_it_and_what_is_there_stays(tmp_path: Path, stored: str) -> None:
    table = tables.open_filesystem(hostile_folder(tmp_path / "t"))
    base = table.snapshot()
    protocol = with_features(base.state.protocol, *WRITERS)
    metadata = STORED[stored](base.state.metadata, f"{RUNS} OR id > 0")

    refused(lambda: table.commit(Change(Operation("X"), (protocol, metadata)), base=base))
    described = msgspec.structs.replace(base.state.metadata, description="seen")
    assert table.commit(Change(Operation("X"), (described,)), base=base) == 1


def test_restoring_does_not_bring_it_back(tmp_path: Path) -> None:
    table = tables.open_filesystem(hostile_folder(tmp_path / "t"))
    base = table.snapshot()
    clean = msgspec.structs.replace(base.state.metadata, configuration={})
    table.commit(Change(Operation("X"), (clean,)), base=base)

    refused(lambda: restore.restore(table, version=0))


def test_it_is_not_adopted(catalog: Catalog, tmp_path: Path) -> None:
    adopted.ready(catalog)

    refused(lambda: adopted.adopt(catalog, hostile_folder(tmp_path / "t"), TableName("test", "t")))


def test_it_is_not_cloned(lake: Lake, tmp_path: Path) -> None:
    source = hostile_folder(tmp_path / "theirs")

    refused(lambda: lake.clone(source, "s.clone"))
    assert list(lake.tables()) == []


@pytest.mark.parametrize(("text", "taken"), [(RUNS, 0), (ALLOWED[0], 1)])
def test_a_planted_version_is_not_taken_in(place: Place, text: str, taken: int) -> None:
    told, latest = place.told(), place.catalog.tail(place.table_id).latest
    at = Version(latest + 1)
    info = CommitInfo(in_commit_timestamp=stamp(at), txn_id=TxnId(f"planted in {place.table_id}"))
    metadata = _constraint(told.metadata, text)
    planted = codec.encode((info, with_features(told.protocol, *WRITERS), metadata))
    locate(place.location).put_if_absent(file_names.published_path(at), planted)
    for privilege in ("alter protocol", "alter properties"):
        place.catalog.granting.grant(privilege, None, "external")

    assert place.catalog.import_external_versions(place.table_id) == latest + taken
