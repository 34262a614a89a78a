"""How much of what ran at the same time a commit may ignore: its isolation level."""

from collections.abc import Iterable
from enum import StrEnum

from headgate.protocol import property_values
from headgate.protocol.actions import Action, AddCdcFile, AddFile, DomainMetadata, Metadata, RemoveFile
from headgate.protocol.domains.rules import ROW_TRACKING_DOMAIN


class IsolationLevel(StrEnum):
    """The levels, by the names that commitInfo has for them."""

    SERIALIZABLE = "Serializable"
    """As if the commits had run one after another, in the order of their versions."""
    WRITE_SERIALIZABLE = "WriteSerializable"
    """In some order: a blind append may count as having come later than its version says."""
    SNAPSHOT = "SnapshotIsolation"
    """For commits that change no rows: what others add does not concern them."""


def choose_level(metadata: Metadata, actions: Iterable[Action], *, changes_data: bool) -> IsolationLevel:
    """The level of a commit with these actions, of an operation that does or does not change data.

    WriteSerializable is honoured where a log asks for it, though Headgate never writes that property.
    """
    asked = property_values.text(metadata, property_values.ISOLATION_LEVEL).lower()
    relaxed = asked == IsolationLevel.WRITE_SERIALIZABLE.lower()
    if not (relaxed and changes_data) and all(map(_leaves_rows_alone, actions)):
        return IsolationLevel.SNAPSHOT
    return IsolationLevel.WRITE_SERIALIZABLE if relaxed else IsolationLevel.SERIALIZABLE


def _leaves_rows_alone(action: Action) -> bool:
    match action:
        case AddFile(data_change=changed) | RemoveFile(data_change=changed):
            return not changed
        case AddCdcFile():
            return True
        case DomainMetadata(domain=name):
            return name == ROW_TRACKING_DOMAIN
        case _:
            return False
