"""Do the days and moments of a file count by another calendar? Then old ones are Spark's to read.

Spark before 3.0, and later ones if told so, write days before 1582 and moments before 1900 by the Julian
calendar and by local times of old; the footer says so. Newer days are the same in both.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.compute as pc

from headgate.arrow.arrow_types import NEEDS_SPARK
from headgate.errors import UnsupportedFeature
from headgate.protocol.schema.types import Field

_VERSION = b"org.apache.spark.version"
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_FIRST_SURE = (3, 1)
_SINCE_DAY = date(1582, 10, 15)
_SINCE_MOMENT = datetime(1900, 1, 1, tzinfo=UTC)


def old_calendar(footer: Mapping[bytes, bytes]) -> bool:
    """Whether a file with this metadata may count by the old calendar."""
    if any(key in footer for key in _LEGACY):
        return True
    version = footer.get(_VERSION, b"").decode(errors="replace").split(".")
    known = [int(part) for part in version[:2] if part.isdecimal()]
    return len(known) == 2 and tuple(known) < _FIRST_SURE


def check_calendar(column: pa.ChunkedArray, field: Field, old: bool, path: str) -> None:  # noqa: FBT001
    """Refuse a column with days that the file means otherwise."""
    if not old or not _may_differ(column):
        return
    raise UnsupportedFeature(
        f"the data file {path} has, in column {field.name!r}, dates or moments of long ago by the Julian "
        "calendar, as an old Spark writes them; only Spark reads them as they are meant: use table.read()",
        code=NEEDS_SPARK, features=(field.name,), operation="read",
    )  # fmt: skip


def _may_differ(column: pa.ChunkedArray) -> bool:
    if pa.types.is_nested(column.type):
        return _has_time(column.type)
    if pa.types.is_date(column.type):
        low = pc.min(column)
        return bool(low.is_valid and pc.less(low, pa.scalar(_SINCE_DAY)).as_py())
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        low = pc.min(column)
        return bool(low.is_valid and pc.less(low, pa.scalar(_SINCE_MOMENT, column.type)).as_py())
    return False


def _has_time(found: pa.DataType) -> bool:
    if pa.types.is_nested(found):
        return any(_has_time(found.field(at).type) for at in range(found.num_fields))
    return pa.types.is_date(found) or (pa.types.is_timestamp(found) and found.tz is not None)
