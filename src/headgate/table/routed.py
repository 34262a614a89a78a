"""Which route a table opened by its path takes: asked of its metadata, before every attempt anew."""

import logging
import threading
from dataclasses import dataclass, replace

from headgate.catalog.api import Outcome, Ratified
from headgate.catalog.owner import FindOwner, OwnedTable
from headgate.clock import World
from headgate.errors import InvalidRequest, ObjectNotFound
from headgate.protocol import coordination, names
from headgate.protocol.actions import Commit, Metadata, Protocol, Version
from headgate.protocol.coordination import Coordination
from headgate.storage.api import Store
from headgate.table import snapshot
from headgate.table.authority import Decider
from headgate.table.committer import Frontier
from headgate.table.coordinated import CoordinatedCommitter
from headgate.table.filesystem import FilesystemCommitter
from headgate.table.transaction import Transaction

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Route:
    """As of which version it is known, who decides, and how to ask; an owner nobody registered has no way."""

    version: Version
    named: Coordination | None = None
    owned: CoordinatedCommitter | None = None


_UNKNOWN = _Route(Version(-1))


class RoutedCommitter:
    """Commits by put-if-absent or through the commit owner, whichever the table says by then (W11).

    With ``strict`` a table whose owner is not registered is not even read.
    """

    def __init__(
        self, location: str, store: Store, find: FindOwner, *, world: World, strict: bool = False
    ) -> None:
        self._location = location
        self._store = store
        self._find = find
        self._world = world
        self._strict = strict
        self._files = FilesystemCommitter(store)
        self._lock = threading.Lock()
        self._route = _UNKNOWN

    def frontier(self, *, known: Version | None = None) -> Frontier:
        return (self._route.owned or self._files).frontier(known=known)

    def follow(self, version: Version, metadata: Metadata) -> bool:
        named = coordination.of(metadata)
        with self._lock:
            route = self._route
            if version < route.version:
                return False
            if named == route.named and (named is None or route.owned is not None):
                self._route = replace(route, version=version)
                return False
            if named is None:
                # A released table still needs its owner until the release itself is published.
                if route.owned is None or self._is_published(version):
                    self._route = _Route(version)
                return False
            owned = self._reachable(named)
            if owned is None:
                self._go_without(named, warn=named != route.named)
            self._route = _Route(version, named, owned)
        if owned is None:
            return False
        return route.owned is None or not route.owned.asks_the_same(owned)

    def decider(self, protocol: Protocol, metadata: Metadata) -> Decider:
        named = coordination.of(metadata)
        if named is not None and not protocol.is_catalog_managed and self._through(named) is not None:
            return Decider.OWNER
        return self._files.decider(protocol, metadata)

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        named = coordination.of(txn.attempt.follows.metadata)
        if named is None:
            self._publish_leftovers()
            outcome = self._files.propose(txn)
        else:
            outcome = self._owned(named).propose(txn)
        if outcome == Ratified(txn.target):
            self.follow(txn.target, txn.attempt.metadata)
        return outcome

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        named = coordination.of(txn.attempt.follows.metadata)
        return (self._files if named is None else self._owned(named)).outcome_of(txn)

    def publish(self) -> Version:
        if self._route is _UNKNOWN:
            found = snapshot.load(self._store, self._files.frontier())
            self.follow(found.version, found.state.metadata)
        route = self._route
        if route.named is not None:
            return self._owned(route.named).publish()
        return self._files.publish()

    def _publish_leftovers(self) -> None:
        """Between release and publication a crash leaves commits that only the old owner has (S130)."""
        owned = self._route.owned
        if owned is not None:
            owned.publish()

    def _is_published(self, version: Version) -> bool:
        try:
            self._store.head(names.published(version))
        except ObjectNotFound:
            return False
        return True

    def _owned(self, named: Coordination) -> CoordinatedCommitter:
        route = self._route
        owned = (route.owned if route.named == named else None) or self._through(named)
        if owned is None:
            raise coordination.without_owner(named, "a commit")
        return owned

    def _reachable(self, named: Coordination) -> CoordinatedCommitter | None:
        try:
            return self._through(named)
        except InvalidRequest:  # what the properties say cannot be understood, which stops no reader
            return None

    def _through(self, named: Coordination) -> CoordinatedCommitter | None:
        owner = self._find(named.owner, named.conf)
        if owner is None:
            return None
        table = OwnedTable(self._location, named.table_conf, self._store)
        return CoordinatedCommitter(owner, table, folder=named.naming.staged, world=self._world)

    def _go_without(self, named: Coordination, *, warn: bool) -> None:
        if self._strict:
            raise coordination.without_owner(named, "reading it, as the settings ask,")
        if warn:
            _LOG.warning(
                "the commits of the table at %r are decided by the coordinator %r, which is not registered "
                "here: only what is published can be read, and newer versions may exist",
                self._location, named.owner,
            )  # fmt: skip
