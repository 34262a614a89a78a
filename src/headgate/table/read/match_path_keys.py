"""Which of many paths are among some keys: in Arrow, because few paths are not their own key."""

import re
from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol import file_key

_BEFORE_NAME = re.compile("^.*[/:]", re.DOTALL)
_NO_NAMES = ("", ".", "..")
_SLASH, _DOT, _COLON, _PERCENT = b"/.:%"


def match_keys_chunked(paths: pa.ChunkedArray, keys: Collection[str]) -> pa.ChunkedArray:
    """For each path whether its key is among these, or may be: then the key itself must be looked at."""
    return pa.chunked_array([match_keys(chunk, keys) for chunk in paths.chunks], pa.bool_())


def match_keys(paths: pa.Array, keys: Collection[str]) -> pa.Array:
    """The same of paths that are together."""
    plain = pc.is_in(paths, pa.array(keys, pa.string()))
    return pc.or_(plain, _may_be_in(paths, keys)) if _may_be_odd(paths) else plain


def _may_be_odd(paths: pa.Array) -> bool:
    """Whether some path may not be its own key, as the bytes of all of them together tell."""
    content = paths.buffers()[2]
    if content is None or not len(paths):
        return False
    read = np.frombuffer(content, np.uint8)
    slashes = np.flatnonzero(read == _SLASH)
    before = read[slashes[slashes > 0] - 1]
    return bool(
        (read == _PERCENT).any()
        or (read == _COLON).any()
        or ((before == _SLASH) | (before == _DOT)).any()
        or pc.any(pc.starts_with(paths, "/")).as_py()
    )


def _may_be_in(paths: pa.Array, keys: Collection[str]) -> pa.Array:
    """Odd paths to a file of the same name as one of these, unless the name is odd itself."""
    names = pa.array({*_NO_NAMES, *(_BEFORE_NAME.sub("", key) for key in keys)}, pa.string())
    found = pc.replace_substring_regex(paths, "(?s)" + _BEFORE_NAME.pattern, "")
    has_name = pc.or_(pc.is_in(found, names), pc.match_substring(found, "%"))
    return pc.and_(pc.match_substring_regex(paths, file_key.NONCANONICAL_PATH), has_name)
