"""What does a refusal of a Unity Catalog server mean here? By its status and by the name that it gives it.

The Delta API says ``{"error": {"type": "NoSuchTableException", …}}``, the older one
``{"error_code": "TABLE_NOT_FOUND", …}``. Some answer 400 where others answer 409, so the name counts first.
"""

import msgspec

from headgate import errors
from headgate.catalog.unity.http_calls import UnityAnswer
from headgate.errors import HeadgateError
from headgate.redaction import redact

_BY_NAME: dict[str, type[HeadgateError]] = {
    "NoSuchCatalogException": errors.LakeNotFound,
    "CATALOG_NOT_FOUND": errors.LakeNotFound,
    "NoSuchSchemaException": errors.SchemaNotFound,
    "SCHEMA_NOT_FOUND": errors.SchemaNotFound,
    "SCHEMA_DOES_NOT_EXIST": errors.SchemaNotFound,
    "NoSuchTableException": errors.TableNotFound,
    "TABLE_NOT_FOUND": errors.TableNotFound,
    "TABLE_DOES_NOT_EXIST": errors.TableNotFound,
    "AlreadyExistsException": errors.TableExists,
    "TABLE_ALREADY_EXISTS": errors.TableExists,
    "UnsupportedTableFormatException": errors.UnsupportedFeature,
    "UNSUPPORTED_TABLE_FORMAT": errors.UnsupportedFeature,
}
_BY_STATUS: dict[int, type[HeadgateError]] = {
    400: errors.InvalidRequest,
    401: errors.NotAuthenticated,
    403: errors.NotAllowed,
    404: errors.TableNotFound,
    409: errors.CatalogUnavailable,
    429: errors.TooManyUnpublished,
    501: errors.UnsupportedFeature,
}
_LONGEST = 2_000


class _Dialects(msgspec.Struct):
    """Either form of an error, as far as it is there."""

    error: dict[str, object] | None = None
    error_code: str | None = None
    message: str | None = None


def refusal(answer: UnityAnswer, asked: str) -> HeadgateError:
    """The error for an answer that is none of success; ``asked`` says for what."""
    name, said = describe(answer)
    kind = _BY_NAME.get(name) or _BY_STATUS.get(answer.status) or errors.CatalogUnavailable
    return kind(
        f"{asked} was refused by the Unity Catalog server ({answer.status} {name}): {said}".rstrip(": ")
    )


def describe(answer: UnityAnswer) -> tuple[str, str]:
    """What the server calls the error, and says of it; nothing where it is no error of that API."""
    try:
        found = msgspec.json.decode(answer.body, type=_Dialects)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", ""
    inner = found.error or {}
    name = str(inner.get("type") or found.error_code or "")
    return name, redact(str(inner.get("message") or found.message or ""))[:_LONGEST]
