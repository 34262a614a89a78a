"""Which adds and removes concern the same file: those of one place with the same deleted rows.

Writers spell one place differently: ``/x``, ``file:/x`` and ``file:///x``, encoded or not, with dots. The key
does not depend on where the table is, so a path that leads into it from outside is not a relative one, as in
Delta Spark.
"""

import re
from urllib.parse import unquote

from headgate.protocol.actions import AddFile, DeletionVector, RemoveFile

FileKey = tuple[str, str | None]

NONCANONICAL_PATH = r"[%:]|//|\./|^/"
"""What a path has that is not its own key, as a regular expression of Java's and Python's."""
LOCAL_SCHEME = r"^[Ff][Ii][Ll][Ee]:(?://(?:localhost)?(?=/)|(?!//))(?=/)"
"""What a path on this machine's disks may begin with."""
S3_SCHEME = r"^s3[an]:"
SCHEME_AND_AUTHORITY = r"^[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?"
"""The scheme of a URI and whose it is, which dots do not lead out of."""
NOT_PERCENT_ENCODED = r"%(?![0-9A-Fa-f]{2})"
"""What shows that a path is not encoded at all."""
UNDECODABLE = "\ufffd"
"""Stands for bytes that are no text; a path with such ones is left as it is."""

_LOCAL_SCHEME, _S3_SCHEME, _SCHEME_AND_AUTHORITY, _NOT_PERCENT_ENCODED = map(
    re.compile, (LOCAL_SCHEME, S3_SCHEME, SCHEME_AND_AUTHORITY, NOT_PERCENT_ENCODED)
)


def file_key(action: AddFile | RemoveFile) -> FileKey:
    """The primary key of a file in the log (spec: action-reconciliation)."""
    return canonical_path(action.path), deletion_vector_id(action.deletion_vector)


def canonical_path(path: str) -> str:
    """One spelling for all paths of a place."""
    if "%" not in path and ":" not in path and "//" not in path and "./" not in path and path[:1] != "/":
        return path
    path = _S3_SCHEME.sub("s3:", _LOCAL_SCHEME.sub("", path))
    found = _SCHEME_AND_AUTHORITY.match(path)
    place = "" if found is None else found[0]
    return place + _remove_dot_segments(_percent_decode(path[len(place) :]))


def deletion_vector_id(vector: DeletionVector | None) -> str | None:
    """What tells a deletion vector from others of its file: its descriptor (P46, spec: derived-fields)."""
    if vector is None:
        return None
    offset = "" if vector.offset is None else f"@{vector.offset}"
    return f"{vector.storage_type}{vector.path_or_inline_dv}{offset}"


def _percent_decode(path: str) -> str:
    if _NOT_PERCENT_ENCODED.search(path):
        return path
    decoded = unquote(path)
    return path if UNDECODABLE in decoded else decoded


def _remove_dot_segments(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(parts)
