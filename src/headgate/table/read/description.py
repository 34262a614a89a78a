"""What a table is at its latest version, as far as its catalog tells; the log is read for files only."""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.protocol.actions import Metadata, Protocol, Version
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class TableDescription:
    """Version, protocol and metadata at once, the rest of the snapshot when asked for."""

    version: Version
    protocol: Protocol
    metadata: Metadata
    load: Callable[[], Snapshot]

    @property
    def snapshot(self) -> Snapshot:
        """The whole snapshot of this version."""
        return self.load()

    @property
    def files(self) -> LiveFiles:
        """The live files of this version."""
        return self.load().files
