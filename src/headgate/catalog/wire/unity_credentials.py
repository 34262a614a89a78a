"""How does the older Unity Catalog API spell a credential? In one of three forms, by the cloud it is for."""

from collections.abc import Mapping

from headgate.catalog.wire.unity_api import UnityCredentials
from headgate.storage.credentials import VendedCredential

_FORMS: Mapping[str, Mapping[str, str]] = {
    "aws_temp_credentials": {
        "access_key_id": "s3.access-key-id",
        "secret_access_key": "s3.secret-access-key",
        "session_token": "s3.session-token",
    },
    "azure_user_delegation_sas": {"sas_token": "azure.sas-token"},
    "gcp_oauth_token": {"oauth_token": "gcs.oauth-token"},
}
"""What it calls the parts of a credential, and what the newer API calls them."""


def unity_credentials(vended: VendedCredential) -> UnityCredentials:
    """A credential as this API has it; of a folder it has no form."""
    forms = {
        form: {theirs: vended.config[ours] for theirs, ours in names.items() if ours in vended.config}
        for form, names in _FORMS.items()
    }
    found = {form: parts for form, parts in forms.items() if parts}
    return UnityCredentials(
        url=vended.prefix,
        expiration_time=vended.expires_ms,
        aws_temp_credentials=found.get("aws_temp_credentials"),
        azure_user_delegation_sas=found.get("azure_user_delegation_sas"),
        gcp_oauth_token=found.get("gcp_oauth_token"),
    )


def credential_config(forms: Mapping[str, Mapping[str, str | None] | None]) -> dict[str, str]:
    """What a server vends in these forms, in the words of the newer API."""
    return {
        ours: value
        for form, names in _FORMS.items()
        for theirs, ours in names.items()
        if (value := (forms.get(form) or {}).get(theirs)) is not None
    }
