"""How much of what ran at the same time a commit may ignore: its isolation level."""

from collections.abc import Iterable
from enum import StrEnum

from headgate.protocol import property_values
from headgate.protocol.actions import Action, AddCdcFile, AddFile, DomainMetadata, Metadata, RemoveFile
from headgate.protocol.domains.rules import ROW_TRACKING


class Isolation(StrEnum):
    """The levels, by the names that commitInfo has for them."""

    SERIALIZABLE = "Serializable"
    """As if the commits had run one after another, in the order of their versions."""
    WRITE_SERIALIZABLE = "WriteSerializable"
    """In some order: a blind append may count as having come later than its version says."""
    SNAPSHOT = "SnapshotIsolation"
    """For commits that change no rows: what others add does not concern them."""


def choose(metadata: Metadata, actions: Iterable[Action], *, changes_data: bool) -> Isolation:
    """The level of a commit with these actions, of an operation that does or does not change data.

    WriteSerializable is honoured where a log asks for it, though Headgate never writes that property.
    """
    asked = property_values.text(metadata, property_values.ISOLATION_LEVEL).lower()
    relaxed = asked == Isolation.WRITE_SERIALIZABLE.lower()
    if not (relaxed and changes_data) and all(map(_leaves_rows_alone, actions)):
        return Isolation.SNAPSHOT
    return Isolation.WRITE_SERIALIZABLE if relaxed else Isolation.SERIALIZABLE


def _leaves_rows_alone(action: Action) -> bool:
    match action:
        case AddFile(data_change=changed) | RemoveFile(data_change=changed):
            return not changed
        case AddCdcFile():
            return True
        case DomainMetadata(domain=name):
            return name == ROW_TRACKING
        case _:
            return False
