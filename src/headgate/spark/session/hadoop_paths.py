"""How Spark names a place: Hadoop's spelling of a location, and the URI of a data file in it."""

import re
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol import relative_paths
from headgate.storage.location_spelling import hadoop_scheme, is_local, local_path

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PLAIN = re.compile(r"[A-Za-z0-9_.~/=-]*")
_GLOB = re.compile(r"[\\*?\[\]{}]")
_RELATIVE = r"\A[A-Za-z0-9_.~=-][A-Za-z0-9_.~/=-]*\z"


def folder(location: str, name: str) -> str:
    """The folder ``name`` of a location, for a reader or writer, which take paths and not URIs."""
    if is_local(location):
        return f"file:{local_path(location).rstrip('/')}/{name}"
    parts = urlsplit(location)
    return f"{hadoop_scheme(parts.scheme)}://{parts.netloc}{unquote(parts.path).rstrip('/')}/{name}"


def escape_glob(path: str) -> str:
    """The path as Spark's readers take it, who look for names that match: it matches itself alone."""
    return _GLOB.sub(r"\\\g<0>", path)


def file_uris(location: str, paths: pa.StringArray) -> pa.StringArray:
    """The URIs of data files, given their paths in the log: relative to the location, or absolute.

    ``CorruptLog`` if a relative one leads out of the location.
    """
    relative_paths.check_inside_table(
        paths.filter(pc.match_substring_regex(paths, relative_paths.MAY_LEAVE_TABLE)).to_pylist()
    )
    root = _root_uri(location)
    uris = pc.binary_join_element_wise(pa.scalar(root), paths, "/")
    # Most paths are relative and have nothing to encode; one by one they would take seconds.
    others = pc.invert(pc.match_substring_regex(paths, _RELATIVE))
    if not pc.any(others).as_py():
        return uris
    spelled = [
        _absolute(path) if _is_absolute(path) else f"{root}/{_encoded(path)}"
        for path in paths.filter(others).to_pylist()
    ]
    return pc.replace_with_mask(uris, others, pa.array(spelled, pa.string()))


def _root_uri(location: str) -> str:
    if is_local(location):
        return "file://" + quote(local_path(location).rstrip("/"))
    return _absolute(location.rstrip("/"))


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _ABSOLUTE.match(path) is not None


def _absolute(path: str) -> str:
    parts = urlsplit(path)
    if parts.scheme == "file":
        local_path(path)  # refused if it is of another machine; Spark knows this one by no name
    host = "" if is_local(path) else parts.netloc
    return f"{hadoop_scheme(parts.scheme or 'file')}://{host}{_encoded(parts.path)}"


def _encoded(path: str) -> str:
    # Writers differ in what they leave bare; Java's URI takes only what is encoded throughout.
    return path if _PLAIN.fullmatch(path) else quote(unquote(path), safe="/=")
