"""The threats a catalog meets: each attack fails, and would succeed if its guard were gone.

An attack is a function that says whether it succeeded, and a guard is what it fails on, which a test
can take away. The numbers are those of the threat model.
"""

import hashlib
import logging
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import headgate
from headgate import brief_errors
from headgate.catalog import published_files
from headgate.catalog.access import commit_policies
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import InlineCommit, Proposal, Ratified, StagedCommit, TableId
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ratification import gate, publication
from headgate.catalog.ratification.gate import Gate
from headgate.catalog.store import grant_store
from headgate.catalog.validation import content_rules, staged_commits, table_rules, text_rules, validation
from headgate.clock import SystemWorld
from headgate.errors import CorruptLog, HeadgateError, InvalidRequest, ObjectExists, TooManyUnpublished
from headgate.protocol.actions import CommitInfo, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.commit import publish
from headgate.table.read import log_reader
from tests.support.broken_commits import with_features, with_properties
from tests.support.catalogs import DATABASE_KINDS, a_catalog
from tests.support.proposals import content, fresh, inline, staged, stamp
from tests.support.tables import SCHEMA, create_managed, named_file

CANARY = "hunter2canary"


@dataclass(frozen=True)
class Scene:
    """A catalog with the table that is attacked, and another that the attacker may write."""

    catalog: Catalog
    victim: TableId
    other: TableId
    store: Store
    folder: Path
    name: str

    @property
    def evil(self) -> str:
        """A transaction of the attacker."""
        return f"evil {self.name}"

    @property
    def honest(self) -> str:
        """A transaction of somebody else."""
        return f"honest {self.name}"

    @property
    def eve(self) -> Catalog:
        """Somebody who may append to the victim, and no more."""
        self.catalog.granting.grant("append", self.name, f"eve of {self.name}")
        return self.catalog.acting_as(f"eve of {self.name}")

    def ratified(self, proposal: Proposal, by: Catalog | None = None) -> bool:
        """Whether the proposal is ratified; a refusal leaves the table as it was."""
        before = self.catalog.tail(self.victim)
        try:
            return isinstance((by or self.catalog).propose(proposal), Ratified)
        except HeadgateError:
            assert self.catalog.tail(self.victim) == before
            return False


@pytest.fixture(scope="module", params=DATABASE_KINDS)
def lake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with a_catalog(request.param, tmp_path_factory.mktemp("lake")) as catalog:
        yield catalog


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with a_catalog("sqlite", tmp_path_factory.mktemp("alone")) as catalog:
        yield catalog


@pytest.fixture
def scene(lake: Catalog) -> Scene:
    return _new(lake)


def _new(catalog: Catalog) -> Scene:
    name, place = TableName("test", f"victim{next(_COUNT)}"), TableName("test", f"other{next(_COUNT)}")
    victim, other = create_managed(catalog, name), create_managed(catalog, place)
    location = Path(victim.location)
    return Scene(catalog, victim.table_id, other.table_id, locate(victim.location), location, str(name))


_COUNT = iter(range(10_000))


def _name(version: int = 1) -> str:
    return file_names.staged_file_name(Version(version), str(uuid.uuid4()))


def _proposal(
    scene: Scene, place: InlineCommit | StagedCommit, txn_id: str = "", version: int = 1
) -> Proposal:
    return Proposal(scene.victim, Version(version), TxnId(txn_id or scene.evil), place)


# --- T1, T2, T3: staged files


def t1_a_name_that_leads_elsewhere(scene: Scene) -> bool:
    elsewhere = scene.folder.parent / scene.other / file_names.STAGED_FOLDER
    elsewhere.mkdir(parents=True, exist_ok=True)
    (elsewhere / "x.json").write_bytes(content(1, scene.evil))
    (scene.folder / file_names.STAGED_FOLDER).mkdir(parents=True, exist_ok=True)
    return scene.ratified(
        _proposal(scene, StagedCommit(f"../../../{scene.other}/{file_names.STAGED_FOLDER}x.json"))
    )


def t1_a_link_to_elsewhere(scene: Scene) -> bool:
    outside = scene.folder.parent / "outside.json"
    outside.write_bytes(content(1, scene.evil))
    inside = scene.folder / file_names.STAGED_FOLDER / _name()
    inside.parent.mkdir(parents=True, exist_ok=True)
    inside.symlink_to(outside)
    return scene.ratified(_proposal(scene, StagedCommit(inside.name)))


def t1_a_folder_that_is_a_link(scene: Scene) -> bool:
    outside = scene.folder.parent / "outside"
    outside.mkdir()
    (outside / (name := _name())).write_bytes(content(1, scene.evil))
    (scene.folder / file_names.STAGED_FOLDER).parent.mkdir(parents=True, exist_ok=True)
    (scene.folder / file_names.STAGED_FOLDER).symlink_to(outside)
    return scene.ratified(_proposal(scene, StagedCommit(name)))


def t2_a_name_of_another_version(scene: Scene) -> bool:
    name = _name(7)
    scene.store.put(file_names.STAGED_FOLDER + name, content(1, scene.evil))
    return scene.ratified(_proposal(scene, StagedCommit(name)))


def t3_a_commit_made_for_another_table(scene: Scene) -> bool:
    told = scene.catalog.tail(scene.other).description
    assert told is not None
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId(scene.evil))
    scene.store.put(file_names.STAGED_FOLDER + (name := _name()), codec.encode((info, told.metadata)))
    return scene.ratified(_proposal(scene, StagedCommit(name)))


def t3_a_staged_file_of_another_transaction(scene: Scene) -> bool:
    scene.store.put(file_names.STAGED_FOLDER + (name := _name()), content(1, "somebody else's"))
    return scene.ratified(_proposal(scene, StagedCommit(name)))


# --- T4: content


def t4_a_commit_that_leaves_the_catalog(scene: Scene) -> bool:
    told = scene.catalog.tail(scene.victim).description
    assert told is not None
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId(scene.evil))
    free = with_features(told.protocol, without=("catalogManaged",))
    return scene.ratified(_proposal(scene, InlineCommit(codec.encode((info, free)))))


def t4_a_file_outside_the_table(scene: Scene) -> bool:
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId(scene.evil))
    data = codec.encode((info, named_file("file:///etc/passwd")))
    return scene.ratified(_proposal(scene, InlineCommit(data)))


# --- T5, T6, T7: what is ratified and published


def t5_a_staged_file_that_changes_after_it_was_ratified(scene: Scene) -> bool:
    proposal = staged(scene.victim, 1, scene.honest, scene.store)
    assert isinstance(proposal.content, StagedCommit)
    assert scene.ratified(proposal)
    forged = content(1, scene.honest).replace(b".parquet", b".forged")
    scene.store.put(proposal.content.path, forged)
    (held,) = scene.catalog.tail(scene.victim).commits
    copy, served = scene.folder / file_names.published_path(Version(1)), b""
    with suppress(CorruptLog):
        publish.publish(scene.store, scene.catalog, scene.victim)
    with suppress(CorruptLog):
        served = log_reader.commit_content(scene.store, Version(1), held)
    return served == forged or (copy.exists() and copy.read_bytes() == forged)


def t6_a_published_file_written_before_ours(scene: Scene) -> bool:
    assert scene.ratified(inline(scene.victim, 1, scene.honest))
    planted = scene.folder / file_names.published_path(Version(1))
    planted.write_bytes(content(1, "forged"))
    try:
        publish.publish(scene.store, scene.catalog, scene.victim)
    except CorruptLog:
        told = [event for event in scene.catalog.events.after(0) if event.table_id == scene.victim]
        assert [event.version for event in told if event.kind.value == "incident"] == [1]
        (held,) = scene.catalog.tail(scene.victim).commits
        assert log_reader.commit_content(scene.store, Version(1), held) == content(1, scene.honest)
    assert planted.read_bytes() == content(1, "forged")  # evidence is not destroyed
    return scene.catalog.tail(scene.victim).published >= 1


def t7_a_false_report_of_publication(scene: Scene) -> bool:
    assert scene.ratified(inline(scene.victim, 1, scene.honest))
    with suppress(InvalidRequest):
        scene.catalog.mark_published(scene.victim, Version(1))
    return scene.catalog.tail(scene.victim).published >= 1


# --- T8: replays


def t8_a_proposal_replayed_at_another_table(scene: Scene) -> bool:
    captured = inline(scene.other, 1, scene.honest)
    assert scene.ratified(captured)
    return scene.ratified(replace(captured, table_id=scene.victim))


def t8_a_transaction_replayed_by_another_user(scene: Scene) -> bool:
    assert scene.ratified(inline(scene.victim, 1, scene.honest))
    return scene.ratified(
        inline(scene.victim, 1, scene.honest, data=content(1, scene.honest, at=stamp(9))), by=scene.eve
    )


# --- T10, T13, T15


def t10_versions_that_are_never_published(scene: Scene) -> bool:
    eve = scene.eve
    scene.catalog.granting.limit_unpublished(f"eve of {scene.name}", 3)
    return all(
        scene.ratified(fresh(scene.victim, version, f"{version} {scene.name}"), by=eve)
        for version in range(1, 6)
    )


def t13_metadata_changed_by_who_may_only_append(scene: Scene) -> bool:
    told = scene.catalog.tail(scene.victim).description
    assert told is not None
    info = CommitInfo(
        in_commit_timestamp=stamp(1), txn_id=TxnId(scene.evil), operation="WRITE", is_blind_append=True
    )
    changed = with_properties(told.metadata, acme="1")
    return scene.ratified(
        _proposal(scene, InlineCommit(codec.encode((info, named_file("a"), changed)))), by=scene.eve
    )


def t15_a_credential_in_a_property(scene: Scene) -> bool:
    told = scene.catalog.tail(scene.victim).description
    assert told is not None
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId(scene.evil))
    changed = with_properties(told.metadata, fs_s3a_secret_key=CANARY)
    return scene.ratified(_proposal(scene, InlineCommit(codec.encode((info, changed)))))


def t15_a_credential_in_an_error_text(_: Scene) -> bool:
    told = (
        InvalidRequest(f"postgresql://ana:{CANARY}@host/lake did not answer"),
        InvalidRequest(f"the option fs.s3a.secret.key={CANARY} is unknown"),
        InvalidRequest(f"the options {{'my.password': '{CANARY}'}} are unknown"),
    )
    return any(CANARY in str(error) for error in told)


# --- the guards


def _without_rule(name: str) -> AbstractContextManager[Any]:
    stack = ExitStack()
    for module in (content_rules, text_rules, table_rules):
        rows = tuple(row for row in module.RULES if row.name != name)
        stack.enter_context(patch.object(module, "RULES", rows))
    return stack


def _follow_links(root: str, path: str, *, most: int) -> bytes:
    return Path(root, path).read_bytes()[:most]


def _believe_anything(_: Store, digests: dict[Version, str]) -> tuple[Version | None, None]:
    return max(digests, default=None), None


def _place_what_is_missing(files: Store, contents: Iterable[tuple[Version, bytes]]) -> None:
    for version, data in contents:
        with suppress(ObjectExists):
            files.put_if_absent(file_names.published_path(version), data)


@contextmanager
def _without_comparing() -> Iterator[None]:
    with (
        patch.object(published_files, "publish_in_order", _place_what_is_missing),
        patch.object(publication, "_verified_prefix", _believe_anything),
    ):
        yield


Guard = Callable[[], AbstractContextManager[Any]]
_UNNAMED: Guard = lambda: patch.object(validation, "check_staged_name", lambda _: None)  # noqa: E731 — rows
_LINKS: Guard = lambda: patch.object(staged_commits.nofollow, "read_nofollow", _follow_links)  # noqa: E731

THREATS: dict[Callable[[Scene], bool], Guard] = {
    t1_a_name_that_leads_elsewhere: _UNNAMED,
    t1_a_link_to_elsewhere: _LINKS,
    t1_a_folder_that_is_a_link: _LINKS,
    t2_a_name_of_another_version: _UNNAMED,
    t3_a_commit_made_for_another_table: lambda: _without_rule("same-table"),
    t3_a_staged_file_of_another_transaction: lambda: _without_rule("identified"),
    t4_a_commit_that_leaves_the_catalog: lambda: _without_rule("stays-managed"),
    t4_a_file_outside_the_table: lambda: _without_rule("files-inside"),
    t5_a_staged_file_that_changes_after_it_was_ratified: lambda: patch.object(
        published_files, "check_fingerprint", lambda _, data: data
    ),
    t6_a_published_file_written_before_ours: _without_comparing,
    t7_a_false_report_of_publication: lambda: patch.object(
        publication, "_verified_prefix", _believe_anything
    ),
    t8_a_proposal_replayed_at_another_table: lambda: patch.object(gate, "_foreign_txn_error", lambda _: None),
    t8_a_transaction_replayed_by_another_user: lambda: patch.object(Gate, "replay_refusal", lambda *_: None),
    t10_versions_that_are_never_published: lambda: patch.object(
        grant_store, "exceeded_unpublished_limit", lambda *_, **__: None
    ),
    t13_metadata_changed_by_who_may_only_append: lambda: patch.object(
        commit_policies,
        "POLICIES",
        tuple(row for row in commit_policies.POLICIES if row.name != "privileges"),
    ),
    t15_a_credential_in_a_property: lambda: _without_rule("no-secrets"),
    t15_a_credential_in_an_error_text: lambda: patch.object(brief_errors, "redact", lambda text: text),
}


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_the_attack_fails(scene: Scene, attack: Callable[[Scene], bool]) -> None:
    assert not attack(scene)


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_each_guard_is_needed(on_sqlite: Catalog, attack: Callable[[Scene], bool]) -> None:
    """Without it the same attack succeeds: so the test above fails for that reason and no other."""
    scene = _new(on_sqlite)

    with THREATS[attack]():
        assert attack(scene)


def test_every_threat_of_this_catalog_is_here() -> None:
    numbers = {attack.__name__.split("_")[0] for attack in THREATS}

    assert numbers == {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t10", "t13", "t15"}


# --- what has no guard to take away


def test_t3_a_table_is_registered_from_its_own_place_whatever_the_client_says(scene: Scene) -> None:
    name = TableName("test", f"mine{next(_COUNT)}")
    staging = scene.catalog.stage(name)

    with pytest.raises(InvalidRequest, match="version 0"):
        scene.catalog.register(StagingTable(staging.table_id, str(scene.folder)), name)


def test_t5_a_staged_file_that_changed_is_an_incident(scene: Scene) -> None:
    assert not t5_a_staged_file_that_changes_after_it_was_ratified(scene)

    told = [event for event in scene.catalog.events.after(0) if event.table_id == scene.victim]
    assert [(event.kind.value, event.version) for event in told if event.kind is EventKind.INCIDENT] == [
        ("incident", 1)
    ]


def test_t5_what_was_ratified_inline_has_no_file_that_could_change(scene: Scene) -> None:
    assert scene.ratified(inline(scene.victim, 1, scene.honest))

    assert not (scene.folder / file_names.STAGED_FOLDER).exists() or not list(
        (scene.folder / file_names.STAGED_FOLDER).iterdir()
    )


def test_t8_a_transaction_with_another_body_is_answered_like_the_first_and_changes_nothing(
    scene: Scene,
) -> None:
    """K: a repeated transaction gets the first answer for ever; what came first is what stays."""
    assert scene.ratified(inline(scene.victim, 1, scene.honest))
    forged = content(1, scene.honest, at=stamp(5)).replace(b".parquet", b".forged")

    assert scene.catalog.propose(inline(scene.victim, 1, scene.honest, data=forged)) == Ratified(Version(1))

    (held,) = scene.catalog.tail(scene.victim).commits
    assert held.where == InlineCommit(content(1, scene.honest))
    assert held.sha256 == hashlib.sha256(content(1, scene.honest)).hexdigest()


def test_t10_who_publishes_may_go_on(scene: Scene) -> None:
    eve = scene.eve
    scene.catalog.granting.limit_unpublished(f"eve of {scene.name}", 2)
    for version in (1, 2):
        eve.propose(fresh(scene.victim, version, f"{version} {scene.name}"))
    with pytest.raises(TooManyUnpublished, match="publish"):
        eve.propose(fresh(scene.victim, 3, f"3 {scene.name}"))
    scene.catalog.propose(inline(scene.victim, 3, f"owner {scene.name}"))

    publish.publish(scene.store, eve, scene.victim)

    assert eve.propose(fresh(scene.victim, 4, f"4 {scene.name}")) == Ratified(Version(4))


def test_t15_a_refused_credential_is_in_no_error_text_and_in_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    for properties in (
        {"fs.s3a.secret.key": CANARY},
        {"my.password": CANARY},
        {"jdbc.url": f"postgresql://ana:{CANARY}@host/db"},
        {"apiToken": CANARY, "delta.appendOnly": "maybe"},
    ):
        with pytest.raises(InvalidRequest) as caught:
            definition = TableDefinition(SCHEMA, properties=properties)
            create.write_version_0(locate(str(tmp_path)), definition, managed=True, world=SystemWorld())
        told += traceback.format_exception(caught.value)
    with pytest.raises(HeadgateError) as failed:
        headgate.connect(f"postgresql://ana:{CANARY}@127.0.0.1:1/lake")
    told += traceback.format_exception(failed.value)

    assert CANARY not in "".join(told)
    assert CANARY not in caplog.text
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()
    ]
