"""Every exception Headgate raises, in one tree.

The class says what the caller can do about it, ``code`` says exactly what happened (Delta's own
code wherever one exists), ``retry`` says whether trying again makes sense.

HeadgateError
├── UserError            the request cannot be carried out as asked
│   ├── TableNotFound · TableExists · SchemaNotFound · SchemaMismatch · ConstraintViolated
│   └── UnsupportedFeature · VersionNotFound · InvalidRequest
├── ConflictError        a concurrent commit forbids this one; nothing was committed
│   ├── ProtocolChanged · MetadataChanged · ConcurrentAppend · ConcurrentDeleteRead
│   └── ConcurrentDeleteDelete · ConcurrentTransaction · DomainConflict · RetriesExhausted
├── CommitUnknown        nobody can say whether the commit was ratified; delete nothing
├── CatalogError
│   └── NotAllowed · CatalogUnavailable
├── StorageError
│   └── ObjectNotFound · ObjectExists · AccessDenied · StorageUnavailable
└── CorruptLog           the log breaks one of its invariants
"""

from enum import Enum

from typing_extensions import override


class Retry(Enum):
    """What trying again would bring."""

    NEVER = "never"
    SAME = "same"
    REBASE = "rebase"
    RERUN = "rerun"


class HeadgateError(Exception):
    """Root of the tree; never raised itself."""

    code = "HEADGATE_ERROR"
    retry = Retry.NEVER

    def __init__(self, message: str, *, code: str | None = None, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.fields = fields

    @override
    def __str__(self) -> str:
        return f"[{self.code}] {self.message}"


class UserError(HeadgateError):
    """The request cannot be carried out as asked."""


class TableNotFound(UserError):
    """No table answers to that name, path or id."""

    code = "DELTA_TABLE_NOT_FOUND"


class TableExists(UserError):
    """The name or location is taken."""

    code = "DELTA_TABLE_ALREADY_EXISTS"


class SchemaNotFound(UserError):
    """No schema (namespace) has that name."""

    code = "SCHEMA_NOT_FOUND"


class SchemaMismatch(UserError):
    """The rows do not fit the table's columns."""

    code = "DELTA_METADATA_MISMATCH"


class ConstraintViolated(UserError):
    """A row breaks a rule of the table."""

    code = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"


class UnsupportedFeature(UserError):
    """The table uses something this version of Headgate must not touch."""

    code = "DELTA_UNSUPPORTED_FEATURES_FOR_READ"


class VersionNotFound(UserError):
    """The version or moment asked for does not exist."""

    code = "DELTA_VERSION_NOT_FOUND"


class InvalidRequest(UserError):
    """An argument, option or proposal is malformed."""

    code = "DELTA_ILLEGAL_OPTION"


class ConflictError(HeadgateError):
    """A concurrent commit forbids this one; nothing was committed, run the operation again."""

    retry = Retry.RERUN


class ProtocolChanged(ConflictError):
    """A winner changed the protocol."""

    code = "DELTA_PROTOCOL_CHANGED"


class MetadataChanged(ConflictError):
    """A winner changed the schema, partitioning or properties."""

    code = "DELTA_METADATA_CHANGED"


class ConcurrentAppend(ConflictError):
    """A winner added rows that this transaction would have read."""

    code = "DELTA_CONCURRENT_APPEND"


class ConcurrentDeleteRead(ConflictError):
    """A winner removed a file that this transaction read."""

    code = "DELTA_CONCURRENT_DELETE_READ"


class ConcurrentDeleteDelete(ConflictError):
    """A winner removed a file that this transaction removes too."""

    code = "DELTA_CONCURRENT_DELETE_DELETE"


class ConcurrentTransaction(ConflictError):
    """A winner wrote the same application transaction."""

    code = "DELTA_CONCURRENT_TRANSACTION"


class DomainConflict(ConflictError):
    """A winner wrote the same metadata domain and nobody can merge the two."""

    code = "DELTA_CONCURRENT_TRANSACTION"


class RetriesExhausted(ConflictError):
    """Every attempt lost its race; nothing was committed."""

    code = "DELTA_MAX_COMMIT_RETRIES_EXCEEDED"


class CommitUnknown(HeadgateError):
    """Nobody can say whether the commit was ratified; ask again later, delete nothing."""

    code = "HEADGATE_COMMIT_UNKNOWN"


class CatalogError(HeadgateError):
    """The catalog did not do what was asked."""


class NotAllowed(CatalogError):
    """The catalog refuses the proposal."""

    code = "HEADGATE_NOT_ALLOWED"


class CatalogUnavailable(CatalogError):
    """The catalog could not be reached and is known to have changed nothing."""

    code = "HEADGATE_CATALOG_UNAVAILABLE"
    retry = Retry.SAME


class StorageError(HeadgateError):
    """An object store did not do what was asked."""


class ObjectNotFound(StorageError):
    """There is no such object."""

    code = "HEADGATE_OBJECT_NOT_FOUND"


class ObjectExists(StorageError):
    """The object exists already; nothing was written."""

    code = "HEADGATE_OBJECT_EXISTS"


class AccessDenied(StorageError):
    """The store's credentials do not allow this."""

    code = "HEADGATE_ACCESS_DENIED"


class StorageUnavailable(StorageError):
    """The store failed; whether a write took effect is not known."""

    code = "HEADGATE_STORAGE_UNAVAILABLE"
    retry = Retry.SAME


class CorruptLog(HeadgateError):
    """The log breaks one of its invariants."""

    code = "DELTA_VERSIONS_NOT_CONTIGUOUS"
