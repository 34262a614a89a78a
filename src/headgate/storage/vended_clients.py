"""From a vended credential to a client of its store: what each key means to obstore, and its renewal."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from obstore.store import ObjectStore as Client
from obstore.store import from_url

from headgate.errors import AccessDenied
from headgate.storage.credentials import NO_EXPIRY_MS, CredentialSource, VendedCredential, credential_for

if TYPE_CHECKING:  # obstore has it for type checkers alone
    from obstore.store import RetryConfig

_S3_SETTINGS = {"s3.endpoint": "endpoint", "client.region": "region", "s3.region": "region"}
_HOST_STYLES = {"true": "false", "false": "true"}
"""Whether the bucket is part of the host's name, by whether it is part of the path."""


@dataclass(frozen=True, slots=True)
class VendedPlace:
    """A bucket URL, and where the credentials for it come from."""

    url: str
    source: CredentialSource

    def current(self) -> VendedCredential:
        """The credential that holds now; ``AccessDenied`` if the catalog vends none for this place."""
        found = credential_for(self.source(), self.url)
        if found is None:
            raise AccessDenied(
                f"the catalog vends no credential for {self.url!r} (any more): ask for the privilege to read "
                "or write the table, or open it again",
                path=self.url, operation="vend",
            )  # fmt: skip
        return found

    def client(self, retry_config: "RetryConfig") -> Client:
        """A client that asks for the credential anew when it ends."""
        first = self.current()
        scheme = urlsplit(self.url).scheme
        options = {"allow_http": True} if first.config.get("s3.endpoint", "").startswith("http:") else None
        return from_url(  # type: ignore[call-overload,no-any-return]  # it is one of several by the scheme
            self.url,
            config=_settings(first) if scheme == "s3" else None,
            client_options=options,
            retry_config=retry_config,
            credential_provider=lambda: _PROVIDED[scheme](self.current()),
        )


def _settings(credential: VendedCredential) -> dict[str, str]:
    named = {
        ours: credential.config[theirs]
        for theirs, ours in _S3_SETTINGS.items()
        if theirs in credential.config
    }
    style = credential.config.get("s3.path-style-access")
    if style is not None:
        named["virtual_hosted_style_request"] = _HOST_STYLES.get(style.lower(), "true")
    return named


def _until(credential: VendedCredential) -> datetime | None:
    if credential.expires_ms >= NO_EXPIRY_MS:
        return None
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=credential.expires_ms)


def _s3(credential: VendedCredential) -> dict[str, object]:
    config = credential.config
    return {
        "access_key_id": config["s3.access-key-id"],
        "secret_access_key": config["s3.secret-access-key"],
        "token": config.get("s3.session-token"),
        "expires_at": _until(credential),
    }


def _azure(credential: VendedCredential) -> dict[str, object]:
    return {"sas_token": credential.config["azure.sas-token"], "expires_at": _until(credential)}


def _gcs(credential: VendedCredential) -> dict[str, object]:
    return {"token": credential.config["gcs.oauth-token"], "expires_at": _until(credential)}


_PROVIDED: dict[str, Callable[[VendedCredential], dict[str, object]]] = {
    "s3": _s3,
    "gs": _gcs,
    "az": _azure,
    "abfs": _azure,
    "abfss": _azure,
}
