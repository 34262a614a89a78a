"""How is a cloud's token service asked? By one POST, whose answer is used and never shown.

What comes back from such a service may repeat what was sent to it, so an error has its status and nothing
of its text.
"""

from collections.abc import Mapping
from functools import cache

import urllib3

from headgate.errors import CatalogUnavailable, InvalidRequest
from headgate.server import small_answers
from headgate.server.small_answers import RequestBody

_TIMEOUT = urllib3.Timeout(connect=5, read=10)
_RETRIES = urllib3.Retry(2, allowed_methods=None, status_forcelist=(429, 500, 502, 503), backoff_factor=0.2)
_MOST_BYTES = 1024 * 1024


@cache
def _pool() -> urllib3.PoolManager:
    return urllib3.PoolManager(maxsize=4, block=False, timeout=_TIMEOUT, retries=_RETRIES)


def post_form(url: str, form: Mapping[str, str], *, service: str) -> bytes:
    """The answer to a form."""
    return _post(url, small_answers.form_body(form), service)


def post(url: str, body: bytes, headers: Mapping[str, str], *, service: str) -> bytes:
    """The answer of a token service; ``CatalogUnavailable`` if there was none."""
    return _post(url, RequestBody(body, headers), service)


def _post(url: str, sent: RequestBody, service: str) -> bytes:
    try:
        answer = small_answers.ask(_pool(), url, _MOST_BYTES, sent)
    except urllib3.exceptions.HTTPError as exc:
        raise CatalogUnavailable(
            f"{service} could not be asked for a credential ({type(exc).__name__}): try again in a moment"
        ) from None
    if answer.status >= 300 or not answer.is_whole:
        raise InvalidRequest(
            f"{service} refused to give out a credential (status {answer.status}): the server's operator has "
            "to look at the identity that is configured for this store, and at its roles",
            code="HEADGATE_VENDING_REFUSED",
        )
    return answer.content
