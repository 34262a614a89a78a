"""Which protocol a table needs: of a new one, of one that changes, and with a feature less.

Features bring what they require, and whatever a protocol demanded stays demanded by name.
"""

from collections.abc import Collection, Iterable

from headgate.errors import InvalidRequest
from headgate.protocol import table_features
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.table_features import FEATURES

_FEATURES_READER, _FEATURES_WRITER = 3, 7
_IMPLYING_COLUMN_MAPPING = 2
_ORDINARY = 2
"""The writer version of a new table that asks for nothing in particular."""
_READERS = frozenset(feature.name for feature in FEATURES if feature.reader)


def with_features(protocol: Protocol, names: Iterable[str]) -> Protocol:
    """``protocol`` with these features too; the same object if it has them all.

    A protocol without lists gets one that names what its version implied. The reader's part changes
    only for a feature that readers must know.
    """
    wanted = _with_requirements(names)
    written, read = _writer_features(protocol), _reader_features(protocol)
    of_readers = _READERS & wanted
    if wanted <= written and of_readers <= read:
        return protocol
    return Protocol(
        min_reader_version=_FEATURES_READER if of_readers else protocol.min_reader_version,
        min_writer_version=_FEATURES_WRITER,
        reader_features=tuple(sorted(read | of_readers)) if of_readers else protocol.reader_features,
        writer_features=tuple(sorted(written | wanted)),
    )


def without_feature(protocol: Protocol, name: str) -> Protocol:
    """``protocol`` without that feature, in the weakest form that says the same."""
    return _minimal_protocol(_writer_features(protocol) - {name})


def protocol_for_new_table(metadata: Metadata, *, asked: Collection[str] = (), writer: int = 0) -> Protocol:
    """The weakest protocol of a new table: what its metadata needs, what is asked for by name, and what
    the writer version, if one is asked for, implies."""
    names = _with_requirements(
        {*table_features.required_features(metadata), *asked, *_implied_features(writer)}
    )
    ordinary = set(_implied_features(_ORDINARY))
    return _minimal_protocol(ordinary if names <= ordinary else names)


def protocol_for_changed_table(
    protocol: Protocol, metadata: Metadata, *, asked: Collection[str] = (), writer: int = 0
) -> Protocol:
    """The protocol of an existing table once it has this metadata and is asked to have these features.

    A feature that would shut out other readers because of a column type alone must be asked for.
    """
    missing = table_features.required_features(metadata) - table_features.writer_features(protocol)
    new = {
        feature.name
        for feature in FEATURES
        if feature.name in missing and not any(protocol.has(name) for name in feature.formerly)
    }
    by_hand = sorted(
        feature.name
        for feature in FEATURES
        if not feature.automatic and feature.name in new and feature.name not in asked
    )
    if by_hand:
        raise InvalidRequest(
            f"the columns need {', '.join(by_hand)}, which keeps clients that do not know it from reading "
            f"the table, so it is not added unasked: call add_feature({by_hand[0]!r}) first",
            code="DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
        )
    upgraded = with_features(protocol, {*new, *asked, *_implied_features(writer)})
    if protocol.writer_features is not None:
        return upgraded
    weakest = _minimal_protocol(table_features.writer_features(upgraded))
    if weakest.writer_features is not None:
        return upgraded
    return Protocol(
        min_reader_version=max(protocol.min_reader_version, weakest.min_reader_version),
        min_writer_version=weakest.min_writer_version,
    )


def _with_requirements(names: Iterable[str]) -> set[str]:
    """These features, and all that they require, directly or not."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        found |= waiting
        rows = (table_features.find_feature(name) for name in waiting)
        waiting = {required for row in rows if row is not None for required in row.requires} - found
    return found


def _minimal_protocol(names: Collection[str]) -> Protocol:
    """The protocol with exactly these features that shuts out the fewest clients."""
    readers = _READERS.intersection(names)
    implied = _IMPLYING_COLUMN_MAPPING if readers else 1
    for version in range(1, _FEATURES_WRITER):
        if set(_implied_features(version)) == set(names):
            return Protocol(min_reader_version=implied, min_writer_version=version)
    lists = bool(readers - {"columnMapping"})
    return Protocol(
        min_reader_version=_FEATURES_READER if lists else implied,
        min_writer_version=_FEATURES_WRITER,
        reader_features=tuple(sorted(readers)) if lists else None,
        writer_features=tuple(sorted(names)),
    )


def _implied_features(writer: int) -> tuple[str, ...]:
    """The features that a writer version without lists stands for."""
    if writer >= _FEATURES_WRITER:
        return ()
    return tuple(
        feature.name
        for feature in FEATURES
        if feature.legacy_writer is not None and feature.legacy_writer <= writer
    )


def _writer_features(protocol: Protocol) -> set[str]:
    return set(table_features.writer_features(protocol))


def _reader_features(protocol: Protocol) -> set[str]:
    if protocol.reader_features is not None:
        return set(protocol.reader_features)
    return {"columnMapping"} if protocol.min_reader_version == _IMPLYING_COLUMN_MAPPING else set()
