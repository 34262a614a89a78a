"""Which commits have an in-commit timestamp, and what the metadata says of since when.

Version 7, stamped 1700, switches timestamps on. Its metadata says so, and all later ones keep it:

    {"delta.enableInCommitTimestamps": "true",
     "delta.inCommitTimestampEnablementVersion": "7",
     "delta.inCommitTimestampEnablementTimestamp": "1700"}

After a lost race the same commit may be version 9, stamped 1800, and then says 9 and 1800.
"""

import msgspec

from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION, VersionTimestamp

_ENABLEMENT = (ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP)
PROPERTIES = frozenset({property_values.IN_COMMIT_TIMESTAMPS, *_ENABLEMENT})
"""What the metadata says of them."""


def has_in_commit_timestamps(metadata: Metadata) -> bool:
    """Whether commits under this metadata have in-commit timestamps."""
    return property_values.flag(metadata, property_values.IN_COMMIT_TIMESTAMPS)


def with_enablement(before: Metadata, written: Metadata, stamp: VersionTimestamp) -> Metadata:
    """The metadata that a commit stamped ``stamp`` writes over ``before``, true about since when.

    Switching timestamps on says so, keeping them on keeps what was said, and switching them off
    takes it back, whatever the writer put there itself.
    """
    said = {key: before.configuration[key] for key in _ENABLEMENT if key in before.configuration}
    if not has_in_commit_timestamps(written):
        said = {}
    elif not has_in_commit_timestamps(before):
        said = {ENABLEMENT_VERSION: str(stamp.version), ENABLEMENT_TIMESTAMP: str(stamp.at)}
    kept = {key: value for key, value in written.configuration.items() if key not in _ENABLEMENT}
    configuration = {**kept, **said}
    if configuration == written.configuration:
        return written
    return msgspec.structs.replace(written, configuration=configuration)
