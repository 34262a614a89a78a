"""What is the key of a path in a column? What ``protocol/file_key`` says, as an expression of Spark."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.protocol import file_key


def path_key(path: Column) -> Column:
    """The key of each path; null where there is none."""
    return F.when(path.rlike(file_key.NONCANONICAL_PATH), _spelled(path)).otherwise(path)


def _spelled(path: Column) -> Column:
    known = F.regexp_replace(F.regexp_replace(path, file_key.LOCAL_SCHEME, ""), file_key.S3_SCHEME, "s3:")
    place = F.regexp_extract(known, file_key.SCHEME_AND_AUTHORITY, 0)
    inside = _decoded(known.substr(F.length(place) + F.lit(1), F.length(known)))
    root = F.when(inside.startswith("/"), "/").otherwise("")
    none = F.array().cast("array<string>")
    return F.concat(place, root, F.array_join(F.aggregate(F.split(inside, "/"), none, _resolve_segment), "/"))


def _decoded(path: Column) -> Column:
    # Java takes a plus for a space, as forms do and paths do not; and half an escape for a mistake.
    decoded = F.try_url_decode(F.replace(path, F.lit("+"), F.lit("%2B")))
    is_text = decoded.isNotNull() & ~decoded.contains(file_key.UNDECODABLE)
    return F.when(is_text, decoded).otherwise(path)


def _resolve_segment(parts: Column, part: Column) -> Column:
    last = F.coalesce(F.try_element_at(parts, F.lit(-1)), F.lit(".."))
    back = F.slice(parts, F.lit(1), F.size(parts) - F.lit(1))
    return (
        F.when((part == "..") & (last != ".."), back)
        .when(part.isin("", "."), parts)
        .otherwise(F.array_append(parts, part))
    )
