"""Code of others on a server (T19): what it runs is what its operator installed, and no request names any.

An attack has the server import a module that lies on its path, or go where only the log of a table says. As
in ``test_server_threats.py`` each fails, and succeeds once its guard is taken away.
"""

import copy
import json
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import headgate
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import InlineCommit, Proposal, Ratified
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.store import commit_rules
from headgate.catalog.validation import text_rules
from headgate.clock import SystemWorld
from headgate.errors import HeadgateError
from headgate.plugins import coordinators
from headgate.plugins.registry import Registry
from headgate.protocol.actions import CommitInfo, TxnId, Version
from headgate.protocol.features.coordinated_commits import CURRENT
from headgate.protocol.log import codec
from headgate.server.routes.unity import external_tables
from headgate.storage.store import Store
from headgate.table.commit.by_path import PathCommitter
from tests.fuzz.mutations import _at as part_at
from tests.fuzz.mutations import _places as places_in
from tests.fuzz.valid_requests import RecordedRequest, valid_requests
from tests.support.broken_commits import with_features, with_properties
from tests.support.catalogs import a_catalog
from tests.support.handmade import column, write_log
from tests.support.hostile_sql import HOSTILE
from tests.support.operated_server import Answer, OperatedServer, operated
from tests.support.proposals import stamp
from tests.support.tables import create_managed

MODULE = "headgate_test_foreign_code"
NAMED = (f"{MODULE}:run", f"{MODULE}.run", MODULE)
"""As an entry point, as a path of Python, as a module."""
UNITY = "/api/2.1/unity-catalog"
NAME = TableName("test", "t")


@dataclass(frozen=True)
class Scene:
    """A served lake with a table, owned by the attacker, and somebody's code where the server finds it."""

    catalog: Catalog
    folder: Path
    server: OperatedServer
    table: StagingTable

    def has_run(self) -> bool:
        return MODULE in sys.modules

    def post(self, path: str, body: Any) -> Answer:
        return self.server.ask(path, method="POST", body=json.dumps(body).encode())

    def show_external(self, name: str, owner: str, conf: Mapping[str, str]) -> Answer:
        """Have the server show an ordinary table whose log, which others write, names a coordinator."""
        place = self.folder / name
        properties = {CURRENT.coordinator: owner, CURRENT.conf: json.dumps(conf)}
        write_log(
            place, [column("id", "long")], [], writers=[CURRENT.feature, "inCommitTimestamp"], **properties
        )
        return self.register_external(place)

    def register_external(self, place: Path) -> Answer:
        asked = {"name": place.name, "catalog_name": "main", "schema_name": "test", "table_type": "EXTERNAL"}
        made = {"data_source_format": "DELTA", "columns": [], "storage_location": place.as_uri()}
        return self.post(f"{UNITY}/tables", asked | made)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    (tmp_path / f"{MODULE}.py").write_text("def run(*_, **__):\n    raise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with a_catalog("sqlite", tmp_path / "lake") as catalog, operated(catalog) as server:
        yield Scene(catalog, tmp_path, server, create_managed(catalog, NAME))
    sys.modules.pop(MODULE, None)


# --- the attacks


def t19_code_named_in_any_field(scene: Scene) -> bool:
    """In the place of every text of a request to every route there is."""
    document = scene.server.ask("/schema/openapi.json").json
    for request in valid_requests(document, scene.table):
        for number, body in enumerate(_with_code_named(request)):
            kind = {"Content-Type": "application/json"}
            scene.server.ask(request.path, method=request.method, body=body, headers=kind)
            if scene.has_run():
                return True
            assert number < 1_000
    return scene.has_run()


def _with_code_named(request: RecordedRequest) -> Iterator[bytes]:
    parsed = json.loads(request.body) if request.body else None
    ways = [way for way in places_in(parsed) if isinstance(part_at(parsed, way), str)]
    for number, (*way, last) in enumerate(ways):
        changed = copy.deepcopy(parsed)
        part_at(changed, way)[last] = NAMED[number % len(NAMED)]
        yield json.dumps(changed).encode()


def t19_a_rule_that_is_code(scene: Scene) -> bool:
    for named in NAMED:
        body = {"rule": named, "value": "1", "on": str(NAME)}
        scene.post("/api/headgate/v1/lakes/main/granting/set_rule", body)
    return scene.has_run()


def t19_a_commit_owner_that_is_code(scene: Scene) -> bool:
    conf = {"class": NAMED[0], "py4j": NAMED[1], "lake": "/nowhere"}
    for number, named in enumerate(NAMED):
        scene.show_external(f"owned{number}", named, conf)
    return scene.has_run()


def t19_a_log_that_sends_the_server_to_a_place(scene: Scene) -> bool:
    """To a folder, here; it could be a server or a database, who would be shown what opens the operator's."""
    chosen = scene.folder / "chosen by a stranger"
    scene.show_external("sent", "headgate", {"lake": str(chosen)})
    return chosen.exists()


def t19_code_in_a_constraint(scene: Scene) -> bool:
    """Whoever evaluates it next runs it, be it the client of somebody else."""
    told = scene.catalog.tail(scene.table.table_id).description
    assert told is not None
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId("evil"))
    protocol = with_features(told.protocol, "checkConstraints")
    metadata = with_properties(told.metadata, delta_constraints_c=HOSTILE[0])
    content = InlineCommit(codec.encode((info, protocol, metadata)))
    with suppress(HeadgateError):
        proposal = Proposal(scene.table.table_id, Version(1), TxnId("evil"), content)
        return isinstance(scene.catalog.propose(proposal), Ratified)
    return False


# --- the guards

Guard = Callable[[], AbstractContextManager[Any]]


class _Importing(dict[str, Any]):
    """Knows what it is asked for by importing it."""

    def get(self, name: str, default: Any = None) -> Any:
        with suppress(ImportError, AttributeError, ValueError):
            return pkgutil.resolve_name(name)
        return default


def _imported_rules() -> AbstractContextManager[Any]:
    return patch.object(commit_rules, "_BY_NAME", _Importing())


@contextmanager
def _asking_owners() -> Iterator[None]:
    def committer(store: Store) -> PathCommitter:
        return PathCommitter("somewhere", store, coordinators.find_coordinator, world=SystemWorld())

    with patch.object(external_tables, "FilesystemCommitter", committer):
        yield


@contextmanager
def _asking_imported_owners() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(_asking_owners())
        stack.enter_context(patch.object(Registry, "find", lambda _, name: _Importing().get(name)))
        yield


def _without_stored_expressions() -> AbstractContextManager[Any]:
    rows = tuple(row for row in text_rules.RULES if row.name != "stored-expressions")
    return patch.object(text_rules, "RULES", rows)


THREATS: dict[Callable[[Scene], bool], Guard] = {
    t19_code_named_in_any_field: _imported_rules,
    t19_a_rule_that_is_code: _imported_rules,
    t19_a_commit_owner_that_is_code: _asking_imported_owners,
    t19_a_log_that_sends_the_server_to_a_place: _asking_owners,
    t19_code_in_a_constraint: _without_stored_expressions,
}


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_the_attack_fails(scene: Scene, attack: Callable[[Scene], bool]) -> None:
    assert not attack(scene)


@pytest.mark.parametrize("attack", THREATS, ids=lambda attack: attack.__name__)
def test_each_guard_is_needed(scene: Scene, attack: Callable[[Scene], bool]) -> None:
    with THREATS[attack]():
        assert attack(scene)


def test_a_table_of_a_commit_owner_is_shown_as_it_is_published(scene: Scene) -> None:
    place, lake = scene.folder / "owned", scene.folder / "lake of the owner"
    headgate.at_path(place, columns="id BIGINT", owner=("headgate", {"lake": str(lake)}))
    shutil.rmtree(lake)

    shown = scene.register_external(place).json

    assert (shown["table_type"], [each["name"] for each in shown["columns"]]) == ("EXTERNAL", ["id"])
    assert not lake.exists()
