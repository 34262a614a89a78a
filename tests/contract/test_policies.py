"""What policies refuse besides what nobody may: built-in ones, and one's own."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import headgate
from headgate.catalog.access import commit_policies
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import Ratified, TableId, TableState
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.groups import GroupId, GroupProposal
from headgate.catalog.ports.policies import Refusal, Review
from headgate.clock import SystemWorld
from headgate.errors import CommitRefused, InvalidRequest, UserError
from headgate.plugins import policies
from headgate.plugins.registry import Registry
from headgate.protocol.actions import (
    CommitInfo,
    DomainMetadata,
    TxnId,
    Version,
)
from headgate.protocol.log import codec
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support.broken_commits import ID, WRITER, columns, with_features, with_properties
from tests.support.governed import ADD, COUNT, REMOVE, Place, place, shared
from tests.support.proposals import open_version, stamp
from tests.support.tables import append_change, create_managed, named_file, open_managed

__all__ = ["place", "shared"]  # fixtures


def test_frozen_metadata_is_changed_by_nobody(place: Place) -> None:
    place.catalog.granting.set_rule("freeze_metadata", "true", place.name)
    told = place.told()

    for action in (
        with_properties(told.metadata, acme="1"),
        with_features(told.protocol, "appendOnly"),
        DomainMetadata(domain="acme.x", configuration="{}", removed=False),
    ):
        with place.refuses("metadata-protection", line=3):
            place.propose(ADD, action)
    assert isinstance(place.propose(told.metadata, ADD, REMOVE), Ratified)
    place.catalog.granting.set_rule("freeze_metadata", None, place.name)
    assert isinstance(place.propose(with_properties(told.metadata, acme="1")), Ratified)


@pytest.mark.parametrize("on", ["lake", "s", "table"])
def test_a_commit_larger_than_a_rule_allows_is_refused(place: Place, on: str) -> None:
    where = place.name if on == "table" else on
    files = tuple(named_file(str(number)) for number in range(4))
    try:
        place.catalog.granting.set_rule("max_commit_files", 3, where)
        with place.refuses("size"):
            place.propose(*files)
        assert isinstance(place.propose(*files[:3]), Ratified)
        place.catalog.granting.set_rule("max_commit_bytes", 50, where)
        with place.refuses("size"):
            place.propose(ADD)
    finally:
        for rule in ("max_commit_files", "max_commit_bytes"):
            place.catalog.granting.set_rule(rule, None, where)


def test_the_rule_closest_to_the_table_counts(place: Place) -> None:
    place.catalog.granting.set_rule("max_commit_files", 1, "s")
    place.catalog.granting.set_rule("max_commit_files", 2, place.name)
    try:
        assert isinstance(place.propose(ADD, REMOVE), Ratified)
    finally:
        place.catalog.granting.set_rule("max_commit_files", None, "s")


def test_new_columns_are_named_by_the_rule(place: Place) -> None:
    place.catalog.granting.set_rule("column_names", "[a-z_]+", place.name)
    old = place.told().metadata

    with place.refuses("column-names", line=2):
        place.propose(columns(old, ID, WRITER, Field("Loud", Primitive("long"))))
    assert isinstance(place.propose(columns(old, ID, WRITER, Field("quiet", Primitive("long")))), Ratified)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("max_commit_files", "0"),
        ("max_commit_files", "9" * 5_000),
        ("column_names", "["),
        ("column_names", "(?=a)b"),
        ("column_names", "a" * 1_001),
        ("column_names", "((a{99}){99}){9}"),
        ("nothing", "1"),
    ],
)
def test_a_rule_that_means_nothing_cannot_be_set(place: Place, rule: str, value: str) -> None:
    with pytest.raises(InvalidRequest):
        place.catalog.granting.set_rule(rule, value, place.name)


def test_what_a_foreign_key_needs_stays(place: Place) -> None:
    """Seed 001: a column that is referred to keeps its NOT NULL, its name and itself."""
    parent = Place(*_table(place.catalog, nullable=False))
    place.catalog.granting.add_foreign_key(place.name, ["id"], parent.name, ["id"])
    old, required = parent.told().metadata, Field("id", Primitive("long"), nullable=False)
    overwrite = {"operation": "WRITE", "operation_parameters": {"mode": "Overwrite"}}

    for change in (
        columns(old, ID, WRITER),
        columns(old, Field("key", Primitive("long"), nullable=False), WRITER),
        columns(old, WRITER),
    ):
        with parent.refuses("foreign-keys", line=2):
            parent.propose(change, **overwrite)
    with place.refuses("foreign-keys"):
        place.propose(columns(place.told().metadata, WRITER), **overwrite)
    wider = columns(old, required, WRITER, Field("more", Primitive("long")))
    assert isinstance(parent.propose(wider), Ratified)
    assert place.catalog.granting.drop_foreign_key(place.name, ["id"], parent.name)
    assert isinstance(parent.propose(columns(old, ID, WRITER), **overwrite), Ratified)


def test_a_foreign_key_needs_columns_that_fit(place: Place) -> None:
    parent = Place(*_table(place.catalog, nullable=False))

    for child, referred in (("writer", "id"), ("id", "writer"), ("id", "nobody"), ("nobody", "id")):
        with pytest.raises(InvalidRequest):
            place.catalog.granting.add_foreign_key(place.name, [child], parent.name, [referred])
    for schema in (place.name.partition(".")[0], "lake"):
        with pytest.raises(InvalidRequest):
            place.catalog.granting.add_foreign_key(schema, ["id"], parent.name, ["id"])
    assert place.catalog.granting.foreign_keys(place.name) == ()


def _table(catalog: Catalog, *, nullable: bool) -> tuple[Catalog, TableId, str]:
    name = TableName("s", f"t{next(COUNT)}")
    staging = catalog.stage(name)
    schema = Struct((Field("id", Primitive("long"), nullable=nullable), WRITER))
    create.write_version_0(
        locate(staging.location), TableDefinition(schema), managed=True, world=SystemWorld()
    )
    catalog.register(staging, name)
    return catalog, staging.table_id, staging.location


# --- policies of one's own


class _Quiet:
    """Refuses commits that add files named aloud."""

    def review(self, review: Review) -> Refusal | None:
        loud = next((add for add in review.commit.adds if add.path.isupper()), None)
        return None if loud is None else review.refuse("no shouting", loud)


class _Broken:
    def review(self, review: Review) -> Refusal | None:
        raise ZeroDivisionError(review.size)


def test_a_policy_of_ones_own_refuses_by_name(place: Place) -> None:
    mine = Place(place.catalog.acting_as("owner", policies=lambda: {"quiet": _Quiet()}), *place.rest)

    assert isinstance(mine.propose(named_file("quiet")), Ratified)
    with mine.refuses("quiet", line=3):
        mine.propose(named_file("quiet too"), named_file("LOUD"))


@pytest.mark.parametrize("limit", [0, 1_000_000], ids=["staged", "inline"])
def test_a_refused_commit_is_proven_not_to_have_happened(place: Place, limit: int) -> None:
    """So whoever wrote files for it may delete them: it is the user's error, and not an unknown outcome."""
    settings = Settings(publish=Publish.ON_DEMAND, inline_limit_bytes=limit)
    reader = place.catalog.acting_as("only READ")
    table = open_managed(reader, place.table_id, place.location, settings=settings)
    version = table.snapshot().version

    with pytest.raises(UserError) as caught:
        table.commit(append_change(named_file("mine")), base=table.snapshot())

    assert isinstance(caught.value, CommitRefused)
    assert table.snapshot().version == version


def test_who_follows_the_lake_hears_of_refusals(place: Place) -> None:
    place.catalog.events.list_pending()
    start = place.catalog.events.newest()
    with place.refuses("privileges"):
        place.propose(ADD, by="only ALTER SCHEMA")
    with pytest.raises(InvalidRequest):
        place.propose(named_file("../x"))

    told = [event for event in place.catalog.events.after(start) if event.table_id == place.table_id]
    refusals = [event.details for event in told if event.kind is EventKind.REFUSAL]
    assert [(each["by"], each["principal"], each["line"], each["action"]) for each in refusals] == [
        ("privileges", "only ALTER SCHEMA", 2, "add"),
        ("paths-inside", "owner", 2, "add"),
    ]


def test_who_follows_the_lake_hears_of_a_refused_member_of_a_group(place: Place) -> None:
    place.catalog.events.list_pending()
    start = place.catalog.events.newest()
    following = place.catalog.tail(place.table_id).latest + 1
    refused = open_version(place.table_id, following, "refused in a group")
    with pytest.raises(CommitRefused):
        place.catalog.acting_as("only READ").propose_group(GroupProposal(GroupId("refused"), (refused,)))

    told = [event for event in place.catalog.events.after(start) if event.kind is EventKind.REFUSAL]
    assert [(event.table_id, event.txn_id, event.details["by"]) for event in told] == [
        (place.table_id, refused.txn_id, "privileges")
    ]


def test_a_policy_that_fails_refuses(place: Place) -> None:
    mine = Place(place.catalog.acting_as("owner", policies=lambda: {"broken": _Broken()}), *place.rest)

    with mine.refuses("broken"):
        mine.propose(ADD)


def test_a_registered_policy_reviews_every_commit_and_a_refused_write_leaves_no_file(tmp_path: Path) -> None:
    headgate.policies.register("quiet", _Quiet())
    try:
        with pytest.raises(InvalidRequest, match="already"):
            headgate.policies.register("quiet", _Quiet())
        with headgate.connect(tmp_path) as lake:
            catalog = lake._catalog
            assert isinstance(catalog, Catalog)
            staging = create_managed(catalog)
            mine = Place(catalog, staging.table_id, staging.location)
            with mine.refuses("quiet"):
                mine.propose(named_file("LOUD"))
    finally:
        headgate.policies.unregister("quiet")
    assert "quiet" not in headgate.policies.registered()


def test_an_installed_policy_is_found_and_one_that_cannot_be_loaded_refuses(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    offers = [
        EntryPoint("quiet", "tests.contract.test_policies:QUIET", policies.GROUP),
        EntryPoint("gone", "tests.contract.no_such_module:POLICY", policies.GROUP),
    ]
    monkeypatch.setattr(
        "headgate.plugins.registry.entry_points", lambda group: offers if group == policies.GROUP else []
    )
    found = Registry(policies.KIND).registered()
    mine = Place(place.catalog.acting_as("owner", policies=lambda: found), *place.rest)

    assert found["quiet"] is QUIET
    with mine.refuses("gone"):
        mine.propose(ADD)


QUIET = _Quiet()


# --- the contract of every policy


@pytest.mark.parametrize("row", commit_policies.POLICIES, ids=lambda row: row.name)
def test_every_built_in_policy_lets_the_owner_append(
    row: commit_policies.BuiltInPolicy, place: Place
) -> None:
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId("a"))
    commit = codec.decode(Version(1), codec.encode((info, ADD)))

    assert row.review(Review(place.table_id, OWNER, commit, (info, ADD), 1, _Facts(place.told()))) is None


@dataclass(frozen=True)
class _Facts:
    """A table with nothing agreed about it."""

    told: TableState

    def before(self) -> TableState | None:
        return self.told

    def privileges(self, principal: Principal) -> frozenset[Privilege]:
        return frozenset()

    def terms(self) -> dict[str, str]:
        return {}

    def foreign_keys(self) -> tuple[()]:
        return ()

    def owns_application(self, principal: Principal, app_id: str) -> bool:
        return False
