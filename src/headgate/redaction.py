"""Does a text hold a credential, and how is it shown to people all the same?

The log of a table is read by everybody who may read the table, for as long as it exists, and error
texts travel further still. So what looks like a credential is refused on its way in and masked on
its way out. Both take a time that grows with the text and no faster, whoever wrote it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import re2

MASK = "***"

WORDS = frozenset(
    {"secret", "secrets", "password", "passwords", "passwd", "pwd", "passphrase", "passcode"}
    | {"token", "credential", "credentials", "authorization", "connectionstring"}
)
"""Words by which a name says that its value is nobody's business, however they are spelled or divided."""
KEYS = frozenset(
    {"access", "account", "private", "api", "sas", "shared", "secret", "signing", "encryption", "master"}
    | {"storage", "ssh"}
)
"""Words that make one together with ``key`` or ``keys``."""
TOKENS = frozenset({"access", "auth", "bearer", "refresh", "session", "security", "sas", "id", "api"})
"""Words that make one together with ``token``, of which they are not always divided."""

NAMES = (
    WORDS
    | {f"{word}{key}" for word in KEYS for key in ("key", "keys", "keyid")}
    | {f"{word}token" for word in TOKENS}
    | {"clientsecret", "secretaccesskey", "dbpassword", "userpassword"}
)
"""All of them, in lower case and without anything between."""
_LONGEST_RUN = 4


@dataclass(frozen=True, slots=True)
class CredentialForm:
    """One row: what a kind of credential looks like wherever it stands."""

    name: str
    pattern: Any
    shown: str = MASK


_PEM = r"-----{} [A-Z ]*PRIVATE KEY-----"
_SIGNATURE = r"(?i)([?&](?:sig|X-Amz-Signature|X-Goog-Signature)=)[^\s&'\",]+"

CREDENTIAL_FORMS: tuple[CredentialForm, ...] = (
    CredentialForm("a password in a URL", re2.compile(r"(://[^\s/:@'\"]*):[^\s/@'\"]+@"), rf"\1:{MASK}@"),
    CredentialForm("an AWS access key", re2.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    CredentialForm("a JSON web token", re2.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    CredentialForm(
        "a private key",  # up to its end, or whatever else begins with so many dashes
        re2.compile(rf"{_PEM.format('BEGIN')}(?:[^-]|-[^-])*(?:{_PEM.format('END')})?"),
    ),
    CredentialForm("a token of a code host", re2.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-)[\w-]{16,}")),
    CredentialForm("a token of Headgate", re2.compile(r"\bhg[tsa]_[\w-]{16,}")),
    CredentialForm("a signed URL", re2.compile(_SIGNATURE), rf"\1{MASK}"),
)

_SEGMENT = re.compile(r"[A-Za-z]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MARKS = ("=", "://", "':", '":', "AKIA", "ASIA", "eyJ", "-----BEGIN", "gh", "glpat-", "hgt_", "hgs_", "hga_")
# A key begins where nothing of one stands before it, and nothing is given back: each character is seen once.
_ASSIGNED = re.compile(
    r"(?<![\w.\-])([\w.\-]++)(\\*+[\"']?\s*+=\s*+|\\*+[\"']:\s*+)(\\*+[\"']?)([^\s\"',;&}]++)"
)


def names_a_secret(key: str) -> bool:
    """Whether a property of this name is meant for a credential.

    The words of a name are divided by case, digits or signs, in any way: apiKey, api.key, APIKEY, PassWord.
    """
    segments = _SEGMENT.findall(key)
    words = [word.lower() for segment in segments for word in _WORD.findall(segment)]
    return any(run in NAMES for parts in (words, [*map(str.lower, segments)]) for run in _runs(parts))


def _runs(words: Sequence[str]) -> Iterator[str]:
    """Every few words that follow each other, as one."""
    for first in range(len(words)):
        run = ""
        for word in words[first : first + _LONGEST_RUN]:
            run += word
            yield run


def credential_form(text: str) -> str | None:
    """What kind of credential the text contains, if it is one that can be told by its looks."""
    text = _encodable(text)
    return next((form.name for form in CREDENTIAL_FORMS if form.pattern.search(text)), None)


def first_credential(properties: Mapping[str, str]) -> tuple[str, str] | None:
    """The first property that looks like a credential, and why; its value is not repeated."""
    return next(iter(_find_credentials(properties)), None)


def credential_properties(properties: Mapping[str, str]) -> Mapping[str, str]:
    """Every property that looks like a credential, and why."""
    return dict(_find_credentials(properties))


def _find_credentials(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in properties.items():
        if names_a_secret(key):
            yield key, "its name says that it is a credential"
        elif found := credential_in_text(value):
            yield key, f"its value {found}"


def credential_in_text(text: str) -> str | None:
    """What makes a text look like it holds a credential: a form of one, or in JSON the name of one."""
    if form := credential_form(text):
        return f"looks like {form}"
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        parsed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return next((f"has {name!r}, which says that it is a credential" for name in _secret_names(parsed)), None)


def _secret_names(parsed: object) -> Iterator[str]:
    waiting = [parsed]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
            yield from (key for key, value in part.items() if _has_content(value) and names_a_secret(key))


def _has_content(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def mask_value(key: str, value: object) -> str:
    """The value of a property as an error text may show it."""
    return MASK if names_a_secret(key) else repr(value)


def redact(text: str) -> str:
    """The text with every credential in it masked, as far as they can be told by their looks."""
    if not any(mark in text for mark in _MARKS):  # almost all error texts, some of which are made often
        return text
    text = _encodable(text)
    for form in CREDENTIAL_FORMS:
        text = form.pattern.sub(form.shown, text)
    return _ASSIGNED.sub(_mask_match, text)


def _encodable(text: str) -> str:
    """The text, with half characters spelled out, of which there can be some in JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def _mask_match(found: re.Match[str]) -> str:
    key, sign, quote, _ = found.groups()
    return f"{key}{sign}{quote}{MASK}" if names_a_secret(key) else found.group()
