"""Who creates a table, or takes it over, where the store cannot tell: the ledger's first word counts.

For each version at a place there is a page of its own in the ledger, the claim; its one commit is the file
that names the coordinator. Whoever comes later publishes that file too, so a crash in between does no harm.
"""

from dataclasses import dataclass

from headgate.catalog.coordinator import rules
from headgate.catalog.ports.commits import RatifiedCommit, StagedCommit
from headgate.catalog.ports.coordinator import CoordinatedTable
from headgate.catalog.ports.ledger import Ledger, Registration
from headgate.errors import CatalogUnavailable, ObjectNotFound
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.log import file_names
from headgate.storage.store import Store


@dataclass(frozen=True, slots=True)
class TakeOverClaims:
    """The claims of one ledger."""

    ledger: Ledger

    def settle(self, table: CoordinatedTable, version: Version, staged: StagedCommit) -> bool:
        """Whether the version is this file; what it is, is published."""
        place = rules.normalize_location(table.location)
        generation = 0
        while True:
            winner = self._claimed(f"claim:{place}#{version}#{generation}", version, staged)
            content = _content(table.store, winner)
            if content is not None:
                return _publish_if_absent(table.store, version, content) and winner == staged
            # The table that was settled on is gone with its files: the claim of another one comes next.
            generation += 1

    def _claimed(self, claim: str, version: Version, staged: StagedCommit) -> StagedCommit:
        """The file that the claim is about: this one, if nobody was before."""
        if self.ledger.find(claim) is None:
            before = Version(version - 1)
            record = Registration(claim, claim, claim, version, version, published=before, accepting=True)
            try:
                self.ledger.open(record)
            except CatalogUnavailable:
                if self.ledger.find(claim) is None:
                    raise
        commit = RatifiedCommit(version, TxnId(staged.file_name), EpochMillis(0), staged)
        self.ledger.write(claim, commit, accepting=False)  # if it loses, somebody else has won
        winner = self.ledger.commits(claim, version)[0].where
        return winner if isinstance(winner, StagedCommit) else staged


def _content(store: Store, staged: StagedCommit) -> bytes | None:
    try:
        return store.read(staged.path)
    except ObjectNotFound:
        return None


def _publish_if_absent(store: Store, version: Version, content: bytes) -> bool:
    """Publish the version, if there is none; whether it is what was settled on."""
    path = file_names.published_path(version)
    try:
        return store.read(path) == content
    except ObjectNotFound:
        store.put(path, content)
        return True
