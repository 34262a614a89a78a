"""Who is to be told of what? Webhooks, as the file of a server's settings has them.

    [[webhooks]]
    name = "billing"                      # its place in the events is kept under this name, in the catalog
    lake = "main"
    url = "https://billing.example/hooks"
    secret_file = "/run/secrets/billing"  # or secret_variable = "BILLING_SECRET"
    kinds = ["commit", "drop"]            # all if there are none
    tables = ["sales.orders", "raw.*"]    # all if there are none

They are in the file and not in the database of the catalog, which so keeps no secrets and no addresses that
callers could choose.
"""

import fnmatch
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headgate.catalog.ports.events import Event, EventKind
from headgate.errors import InvalidRequest

_LEAST_SECRET = 16


class Webhook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One receiver of events."""

    name: str
    lake: str
    url: str
    secret_file: str | None = None
    secret_variable: str | None = None
    kinds: tuple[EventKind, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def follower(self) -> str:
        """The name under which the catalog keeps how far it has come."""
        return f"webhook/{self.name}"

    def wants(self, event: Event) -> bool:
        """Whether it asked for events of this kind, of this table."""
        if self.kinds and event.kind not in self.kinds:
            return False
        return not self.tables or any(fnmatch.fnmatchcase(event.table or "", each) for each in self.tables)


def read_webhooks(written: Sequence[Mapping[str, Any]]) -> tuple[Webhook, ...]:
    """The webhooks of a file; each has a name of its own, and says where its secret is."""
    try:
        found = tuple(msgspec.convert(dict(each), Webhook) for each in written)
    except (msgspec.ValidationError, TypeError, ValueError) as exc:
        raise InvalidRequest(
            f"each of [[webhooks]] has a name, a lake, a url and where its secret is: {exc}"
        ) from exc
    for hook in found:
        if (hook.secret_file is None) is (hook.secret_variable is None):
            raise InvalidRequest(
                f"the webhook {hook.name!r} needs a secret to sign with: say secret_file or "
                "secret_variable, and "
                "not both"
            )
    if len({hook.name for hook in found}) < len(found):
        raise InvalidRequest(
            "two webhooks have the same name: the catalog keeps their places by it, so change one"
        )
    return found


def read_secret(hook: Webhook) -> bytes:
    """What a webhook signs with."""
    if hook.secret_variable is not None:
        text = os.environ.get(hook.secret_variable, "")
        where = f"the variable {hook.secret_variable}"
    else:
        text, where = _read_file(Path(hook.secret_file or "")), f"the file {hook.secret_file!r}"
    secret = text.strip().encode()
    if len(secret) < _LEAST_SECRET:
        raise InvalidRequest(
            f"the secret of the webhook {hook.name!r} should be in {where}, which has fewer than "
            f"{_LEAST_SECRET} characters: put a longer one there"
        )
    return secret


def _read_file(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidRequest(f"a secret of a webhook cannot be read: {exc}. Name another file") from exc
