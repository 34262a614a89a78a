"""How is one place spelled? By stores, by Hadoop, and so that two spellings of it can be compared.

``s3a://bucket/t/``, ``s3://bucket/t`` and ``s3://bucket/%74`` are one place, and so are ``/data/t``,
``file:/data/t`` and ``file:///data/t``. Whoever compares places, or hands one to another program, spells
them by these functions.
"""

import os
import re
import unicodedata
from urllib.parse import SplitResult, quote, unquote, urlsplit

from headgate.errors import InvalidRequest

_HERE = ("", "localhost")
_SCHEME_ALONE = re.compile(r"[^/]*:(/|$)")
"""How a URL begins; a folder may have a colon in the middle of its name."""
_HADOOP_TO_STORE = {"s3a": "s3"}
_PLAIN = re.compile(r"[A-Za-z0-9_.~/=-]*")
_BARE = frozenset("_-!.~'()*:@&=+$,;/")
_SPACES_AND_CONTROLS = frozenset({"Zs", "Zl", "Zp", "Cc"})
_STORE_TO_HADOOP = {ours: theirs for theirs, ours in _HADOOP_TO_STORE.items()}


def store_scheme(scheme: str) -> str:
    """What stores call the scheme of a URL."""
    return _HADOOP_TO_STORE.get(scheme, scheme)


def hadoop_scheme(scheme: str) -> str:
    """What Hadoop, and so Spark, calls the scheme of a URL."""
    return _STORE_TO_HADOOP.get(scheme, scheme)


def local_path(location: str) -> str:
    """The absolute path of a local location."""
    parts = split_location(location)
    if parts.scheme != "file":
        return os.path.abspath(location)
    if parts.query or parts.fragment:  # what comes before would be another folder
        raise InvalidRequest(
            f"{location!r} is not a folder: a file: URL must not have ? or #; if they belong to a name, "
            "write them as %3F and %23, or give the path without file:"
        )
    if parts.netloc.lower() not in _HERE:  # the rest of it would be another folder of this one
        raise InvalidRequest(
            f"{location!r} is a folder of the machine {parts.netloc!r}, not of this one: write file:/// "
            "before an absolute path, or give the path without file:"
        )
    return os.path.abspath(unquote(parts.path))


def is_local(location: str) -> bool:
    """Whether the location is a folder of this machine."""
    return split_location(location).scheme in ("", "file")


def split_location(location: str) -> SplitResult:
    """The parts of a URL, or of a folder the path alone; refused if it is neither."""
    if "\0" in location:
        raise InvalidRequest(f"{location!r} is not a place: no store has a name with a zero in it")
    try:
        parts = urlsplit(location)
    except ValueError as exc:
        raise InvalidRequest(f"{location!r} is not a place: {exc}; write it as a path or a URL") from exc
    is_url = parts.scheme == "file" or _SCHEME_ALONE.match(location) is not None
    return parts if is_url else SplitResult("", "", location, "", "")


def absolute(location: str) -> str:
    """A folder by its absolute path, however it is given; a bucket URL as it is."""
    return local_path(location) if is_local(location) else location


def without_slash(location: str) -> str:
    """The same as ``absolute``, and without a slash at its end."""
    return absolute(location).rstrip("/")


def comparable(location: str) -> str:
    """The spelling by which two locations are one place: absolute, decoded, by the scheme of its store."""
    if is_local(location):
        return without_slash(location)
    parts = urlsplit(location)
    return f"{store_scheme(parts.scheme)}://{parts.netloc}{unquote(parts.path)}".rstrip("/")


def covers(prefix: str, location: str) -> bool:
    """Whether a place is ``prefix`` or lies below it; ``s3://b/lake2`` does not lie below ``s3://b/lake``."""
    return as_prefix(location).startswith(as_prefix(prefix))


def as_prefix(location: str) -> str:
    """How ``comparable`` spells all that lies in a place: with a slash at its end."""
    return comparable(location) + "/"


def location_url(location: str) -> str:
    """A place as every client can read it: a URL without a slash at its end."""
    return f"file://{quote(local_path(location))}" if is_local(location) else location.rstrip("/")


def comparable_text(path: str) -> str:
    """The same for an absolute path of a log, as text alone: it is not looked up where it would lead."""
    if path.startswith("file:"):
        return unquote("/" + path.removeprefix("file:").lstrip("/"))
    scheme, mark, rest = path.partition("://")
    return unquote(f"{store_scheme(scheme)}{mark}{rest}")


def hadoop_path(path: str) -> str:
    """A plain path as Hadoop encodes it, ``p=a%20b&c/ü``: only what Java's URI does not leave bare.

    Delta Spark compares such paths with its own as texts, and its VACUUM deletes what it then does not know.
    """
    if _PLAIN.fullmatch(path):
        return path
    return "".join(character if _is_bare(character) else quote(character) for character in path)


def relative_log_path(path: str) -> str:
    """A plain path below a table as a log names it; no colon makes a scheme of its beginning."""
    first, slash, rest = hadoop_path(path).partition("/")
    return first.replace(":", "%3A") + slash + rest


def _is_bare(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in _BARE
    return unicodedata.category(character) not in _SPACES_AND_CONTROLS
