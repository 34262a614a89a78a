"""What may somebody have meant whose name for a thing is not known?"""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 3


def did_you_mean(asked: str, known: Iterable[str], *, prefix: str = "") -> str:
    """``" did you mean 'day'?"``, to stand behind a colon or a sentence; empty if nothing is near.

    The ``prefix`` is what all of them have in common, which makes none of them nearer.
    """
    spelled = {name.lower(): name for name in known}
    near = get_close_matches(asked.lower(), spelled, n=_MOST, cutoff=0.6)
    return f" did you mean {' or '.join(repr(prefix + spelled[name]) for name in near)}?" if near else ""
