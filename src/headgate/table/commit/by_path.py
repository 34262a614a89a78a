"""Which route a table opened by its path takes: asked of its metadata, before every attempt anew."""

import logging
import threading
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace

from headgate.catalog.ports.commits import Outcome, Ratified
from headgate.catalog.ports.coordinator import CoordinatedTable, FindCoordinator
from headgate.clock import World
from headgate.errors import (
    CatalogUnavailable,
    HeadgateError,
    InvalidRequest,
    ObjectNotFound,
    StaleRead,
    TableNotFound,
)
from headgate.protocol.actions import Commit, Metadata, Protocol, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.features.coordinated_commits import CoordinatorReference
from headgate.protocol.log import file_names
from headgate.settings import Settings
from headgate.storage.store import Store
from headgate.table.authority import UNANSWERED_ERRORS, Decider
from headgate.table.commit.coordinated import CoordinatedCommitter
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.committer import Frontier
from headgate.table.read import snapshot, table_not_found
from headgate.table.transaction import Transaction

_LOG = logging.getLogger(__name__)
_DEFAULT_SETTINGS = Settings()
_ADVICE = (
    "what is published can be read, headgate.at_path(…, settings=Settings(read_published=True)), and if the "
    "coordinator is lost for good, table.force_uncoordinate(…) takes the table back"
)


@dataclass(frozen=True, slots=True)
class _Route:
    """As of which version it is known, who decides, and how to ask; None if nobody registered it.

    Of a table that its coordinator released, ``released`` is the version that says so, if it is not
    published.
    """

    version: Version
    named: CoordinatorReference | None = None
    owned: CoordinatedCommitter | None = None
    unanswered: str | None = None
    released: Version | None = None


_UNKNOWN_ROUTE = _Route(Version(-1))


class PathCommitter:
    """Commits by put-if-absent or through the coordinator, whichever the table says by then (W11).

    The settings say whether a table whose coordinator is not registered is read, and one whose coordinator
    is silent.
    """

    def __init__(
        self,
        location: str,
        store: Store,
        find: FindCoordinator,
        *,
        world: World,
        settings: Settings = _DEFAULT_SETTINGS,
    ) -> None:
        self._location = location
        self._store = store
        self._find = find
        self._world = world
        self._settings = settings
        self._files = FilesystemCommitter(store)
        self._lock = threading.Lock()
        self._route = _UNKNOWN_ROUTE
        self._silent = False

    def frontier(self, *, known: Version | None = None) -> Frontier:
        try:
            return self._frontier(known)
        except TableNotFound as exc:
            raise table_not_found.no_table_at(self._location) from exc

    def _frontier(self, known: Version | None) -> Frontier:
        route = self._route
        if route.owned is None:
            found = self._files.frontier(known=known)
            return found if route.unanswered is None else replace(found, unanswered=route.unanswered)
        try:
            found = route.owned.frontier(known=known)
        except UNANSWERED_ERRORS as exc:
            return self._without_answer(route, exc, known)
        self._silent = False
        return found

    def follow(self, version: Version, metadata: Metadata) -> bool:
        named = coordinated_commits.coordinator_of(metadata)
        with self._lock:
            route = self._route
            if version < route.version:
                return False
            if named == route.named and (named is None or route.owned is not None):
                self._route = replace(route, version=version)
                return False
            if named is None:
                # A released table still needs its coordinator until the release itself is published.
                if route.owned is None or self._is_published(version):
                    self._route = _Route(version)
                else:
                    self._route = replace(route, released=version)
                return False
            owned, because = self._reachable(named)
            if owned is None:
                self._go_without(named, because, warn=named != route.named)
            self._route = _Route(version, named, owned, None if owned is not None else because)
        if owned is None:
            return False
        return route.owned is None or not route.owned.has_same_coordinator(owned)

    def decider(self, protocol: Protocol, metadata: Metadata) -> Decider:
        named = coordinated_commits.coordinator_of(metadata)
        if named is not None and not protocol.is_catalog_managed and self._reachable(named)[0] is not None:
            return Decider.DISPENSABLE_COORDINATOR if self._settings.read_published else Decider.COORDINATOR
        return self._files.decider(protocol, metadata)

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        named = coordinated_commits.coordinator_of(txn.attempt.follows.metadata)
        if named is None:
            self._publish_leftovers()
            outcome = self._files.propose(txn)
        else:
            outcome = self._owned(named).propose(txn)
        if outcome == Ratified(txn.target):
            self.follow(txn.target, txn.attempt.metadata)
        return outcome

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        named = coordinated_commits.coordinator_of(txn.attempt.follows.metadata)
        return (self._files if named is None else self._owned(named)).outcome_of(txn)

    def publish(self, told: Frontier | None = None) -> Version:  # noqa: ARG002
        if self._route is _UNKNOWN_ROUTE:
            found = snapshot.load_snapshot(self._store, self._files.frontier())
            self.follow(found.version, found.state.metadata)
        route = self._route
        if route.named is not None and route.released is None:
            return self._owned(route.named).publish()
        self._publish_leftovers()
        return self._files.publish()

    def _publish_leftovers(self) -> None:
        """Between release and publication a crash leaves commits that only the old coordinator has (S130)."""
        route = self._route
        if route.owned is None:
            return
        if route.released is None:
            route.owned.publish()
            return
        route.owned.publish_leftovers(route.released)
        with self._lock:
            if self._route is route:
                self._route = _Route(route.released)

    def _without_answer(self, route: _Route, exc: HeadgateError, known: Version | None) -> Frontier:
        """What is published, if that will do, with the reason; never in silence."""
        if route.released is not None:
            with suppress(*UNANSWERED_ERRORS):  # whoever has seen the release can publish what it left
                self._publish_leftovers()
                return self._files.frontier(known=known)
        if not self._settings.read_published:
            raise type(exc)(f"{exc.message}; {_ADVICE}", code=exc.code, **exc.fields) from exc
        found = self._files.frontier(known=known)
        if route.owned is not None:
            route.owned.check_published(found.latest)
        self._warn(exc.message)
        return replace(found, unanswered=exc.message)

    def _warn(self, because: str) -> None:
        note = (
            f"the coordinator of the table at {self._location!r} does not say which versions there are: "
            f"{because}; only what is published is read, and newer versions may exist"
        )
        if not self._silent:
            _LOG.warning("%s", note)
        self._silent = True
        warnings.warn(note, StaleRead, stacklevel=2)

    def _is_published(self, version: Version) -> bool:
        try:
            self._store.head(file_names.published_path(version))
        except ObjectNotFound:
            return False
        return True

    def _owned(self, named: CoordinatorReference) -> CoordinatedCommitter:
        route = self._route
        owned = (route.owned if route.named == named else None) or self._through(named)
        if owned is None:
            raise coordinated_commits.unreachable_coordinator_error(named, "a commit")
        return owned

    def _reachable(self, named: CoordinatorReference) -> tuple[CoordinatedCommitter | None, str]:
        """A committer that asks the coordinator, or why there is none."""
        try:
            owned = self._through(named)
        except InvalidRequest as exc:  # what the properties say cannot be understood, which stops no reader
            return None, exc.message
        except CatalogUnavailable as exc:
            if not self._settings.read_published:
                raise CatalogUnavailable(f"{exc.message}; {_ADVICE}", code=exc.code, **exc.fields) from exc
            return None, exc.message
        return owned, f"the coordinator {named.name!r} is not registered here"

    def _through(self, named: CoordinatorReference) -> CoordinatedCommitter | None:
        coordinator = self._find(named.name, named.conf)
        if coordinator is None:
            return None
        table = CoordinatedTable(self._location, named.table_conf, self._store)
        return CoordinatedCommitter(coordinator, table, folder=named.naming.staged, world=self._world)

    def _go_without(self, named: CoordinatorReference, because: str, *, warn: bool) -> None:
        if self._settings.require_owner:
            raise coordinated_commits.unreachable_coordinator_error(named, "reading it, as the settings ask,")
        if warn:
            _LOG.warning(
                "the commits of the table at %r are decided by the coordinator %r, which cannot be asked "
                "(%s): only what is published can be read, and newer versions may exist",
                self._location, named.name, because,
            )  # fmt: skip
        if self._settings.read_published:
            self._warn(because)
