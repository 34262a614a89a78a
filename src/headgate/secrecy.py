"""Does a text hold a credential, and how is it shown to people all the same?

The log of a table is read by everybody who may read the table, for as long as it exists, and error
texts travel further still. So what looks like a credential is refused on its way in and masked on
its way out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

MASK = "***"

WORDS = frozenset(
    {"secret", "secrets", "password", "passwd", "pwd", "passphrase", "token", "credential", "credentials"}
)
"""Words by which the name of a property says that its value is nobody's business."""
PAIRS = frozenset((before, "key") for before in ("access", "account", "private", "api", "sas", "shared"))
"""The same in two words."""


@dataclass(frozen=True, slots=True)
class Form:
    """One row: what a kind of credential looks like wherever it stands."""

    name: str
    pattern: re.Pattern[str]
    shown: str = MASK


_PEM = r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
_SIGNATURE = r"([?&](?:sig|X-Amz-Signature|X-Goog-Signature)=)[^\s&'\",]+"

FORMS: tuple[Form, ...] = (
    Form("a password in a URL", re.compile(r"(://[^\s/:@'\"]*):[^\s/@'\"]+@"), rf"\1:{MASK}@"),
    Form("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    Form("a JSON web token", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    Form("a private key", re.compile(rf"{_PEM}(?:.*?{_PEM.replace('BEGIN', 'END')})?", re.DOTALL)),
    Form("a token of a code host", re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-)[\w-]{16,}")),
    Form("a signed URL", re.compile(_SIGNATURE, re.IGNORECASE), rf"\1{MASK}"),
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MARKS = ("=", "://", "':", '":', "AKIA", "ASIA", "eyJ", "-----BEGIN", "gh", "glpat-")
_ASSIGNED = re.compile(r"([A-Za-z][\w.\-]*)([\"']?\s*=\s*|[\"']:\s*)([\"']?)([^\s\"',;&}]+)")


def names_a_secret(key: str) -> bool:
    """Whether a property of this name is meant for a credential."""
    words = [word.lower() for word in _WORD.findall(key)]
    return not WORDS.isdisjoint(words) or not PAIRS.isdisjoint(pairwise(words))


def form_of(text: str) -> str | None:
    """What kind of credential the text contains, if it is one that can be told by its looks."""
    return next((form.name for form in FORMS if form.pattern.search(text)), None)


def breach(properties: Mapping[str, str]) -> tuple[str, str] | None:
    """The first property that looks like a credential, and why; its value is not repeated."""
    for key, value in properties.items():
        if names_a_secret(key):
            return key, "its name says that it is a credential"
        if found := form_of(value):
            return key, f"its value looks like {found}"
    return None


def shown(key: str, value: object) -> str:
    """The value of a property as an error text may show it."""
    return MASK if names_a_secret(key) else repr(value)


def redacted(text: str) -> str:
    """The text with every credential in it masked, as far as they can be told by their looks."""
    if not any(mark in text for mark in _MARKS):  # almost all error texts, some of which are made often
        return text
    for form in FORMS:
        text = form.pattern.sub(form.shown, text)
    return _ASSIGNED.sub(_masked, text)


def _masked(found: re.Match[str]) -> str:
    key, sign, quote, _ = found.groups()
    return f"{key}{sign}{quote}{MASK}" if names_a_secret(key) else found.group()
