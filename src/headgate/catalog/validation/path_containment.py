"""Does a path in a commit stay inside its table?

Paths in the log are encoded like URLs, once. Readers differ in what they make of a backslash, of a
dot that is encoded, or of one that only looks like a dot; so what any of them might take for a way
out of the table counts as one.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import unquote

from headgate.protocol.actions import Action, AddCdcFile, AddFile, DeletionVector, RemoveFile
from headgate.protocol.log import file_names
from headgate.storage import location_spelling

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_=.~/-]*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LOG = file_names.LOG_FOLDER.rstrip("/")
_UUID_CHARACTERS = 20
_LONGEST = 4096
_ABSOLUTE = "is not relative to the table"


def path_problem(path: str) -> str | None:
    """Why no table may have a file of this path; None if one may."""
    if _PLAIN.fullmatch(path) and "/." not in path and len(path) <= _LONGEST:
        return None
    if not path or len(path) > _LONGEST:
        return "is empty" if not path else f"is longer than {_LONGEST} characters"
    for text in (path, unquote(path)):
        if why := _spelling_problem(text):
            return why
    return "is in the table's log" if unquote(path).split("/", 1)[0].lower() == _LOG else None


def vector_path_problem(vector: DeletionVector) -> str | None:
    """The same of the file of a deletion vector, which a vector within the log does not have."""
    match vector.storage_type:
        case "i":
            return None
        case "u" if len(vector.path_or_inline_dv) >= _UUID_CHARACTERS:
            prefix = vector.path_or_inline_dv[:-_UUID_CHARACTERS]
            return path_problem(prefix) or (_ABSOLUTE if is_outside(prefix) else None) if prefix else None
        case "u":
            return "is too short to name a file"
        case "p":
            return path_problem(vector.path_or_inline_dv)
        case other:
            return f"is of the unknown storage type {other!r}"


def is_outside(path: str) -> bool:
    """Whether the path is not relative to the table."""
    if ":" not in path and "%" not in path:
        return path.startswith("/")
    return any(text.startswith("/") or _SCHEME.match(text) for text in (path, unquote(path)))


def file_paths(actions: Iterable[Action]) -> Iterator[str]:
    """Where the files of a commit are said to be, those of deletion vectors too."""
    for action in actions:
        if isinstance(action, AddFile | RemoveFile | AddCdcFile):
            yield action.path
            vector = None if isinstance(action, AddCdcFile) else action.deletion_vector
            if vector is not None and vector.storage_type == "p":
                yield vector.path_or_inline_dv


def is_below_source(path: str, sources: Collection[str]) -> bool:
    """Whether a path outside the table is below one of these places."""
    return any(_below(path, source) for source in sources)


def _spelling_problem(text: str) -> str | None:
    if "\\" in text:
        return "has a backslash"
    if any(unicodedata.category(character) == "Cc" for character in text):
        return "has a control character"
    if any(unicodedata.normalize("NFKC", part) in (".", "..") for part in text.split("/")):
        return "has a part that is nothing but dots"
    return None


def _below(path: str, source: str) -> bool:
    # Places are encoded where they are URLs, paths of the log always.
    place = source if source.startswith("/") else location_spelling.comparable_text(source)
    return location_spelling.comparable_text(path).startswith(place.rstrip("/") + "/")
