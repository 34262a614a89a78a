"""Every exception Headgate raises, in one tree.

The class says what the caller can do about it, ``code`` says exactly what happened (Delta's own
code wherever one exists), ``retry`` says whether trying again makes sense.

HeadgateError
├── UserError            the request cannot be carried out as asked
│   ├── LakeNotFound · TableNotFound · TableExists · SchemaNotFound · SchemaExists
│   ├── SchemaMismatch · ConstraintViolated
│   └── UnsupportedFeature · VersionNotFound · InvalidRequest · CommitRefused · RequestRefused
├── ConflictError        a concurrent commit forbids this one; nothing was committed
│   ├── ProtocolChanged · MetadataChanged · ConcurrentAppend · ConcurrentDeleteRead
│   ├── ConcurrentDeleteDelete · ConcurrentWrite · RetriesExhausted · GroupConflict
│   └── ConcurrentTransaction
│       └── DomainConflict
├── CommitUnknown        nobody can say whether the commit was ratified; delete nothing
├── CatalogError
│   ├── NotAuthenticated · NotAllowed · CatalogUnavailable · DatabaseUnusable · CatalogLost
│   └── TableFrozen · UnsafeDatabase · TooManyUnpublished · SharedLog
├── StorageError
│   ├── ObjectNotFound · ObjectExists · AccessDenied · StorageUnavailable · UnsafeStore
│   └── FileDamaged
└── CorruptLog           the log breaks one of its invariants
"""

from enum import Enum

from typing_extensions import override

from headgate import brief_errors
from headgate.sqlstates import SQLSTATES


class Retry(Enum):
    """What trying again would bring."""

    NEVER = "never"
    SAME = "same"
    REBASE = "rebase"
    RERUN = "rerun"


class HeadgateError(brief_errors.BriefError):
    """Root of the tree; never raised itself."""

    code = "HEADGATE_ERROR"
    retry = Retry.NEVER

    def __init__(self, message: str, *, code: str | None = None, **fields: object) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.fields = fields

    @property
    def sqlstate(self) -> str | None:
        """The SQLSTATE of the code, as Delta has it; None where there is none."""
        return SQLSTATES.get(self.code)

    @override
    def __str__(self) -> str:
        return f"[{self.code}] {self.message}"


class UserError(HeadgateError):
    """The request cannot be carried out as asked."""


class LakeNotFound(UserError):
    """No lake of that name is served."""

    code = "HEADGATE_LAKE_NOT_FOUND"


class TableNotFound(UserError):
    """No table answers to that name, path or id."""

    code = "DELTA_TABLE_NOT_FOUND"


class TableExists(UserError):
    """The name or location is taken."""

    code = "DELTA_TABLE_ALREADY_EXISTS"


class SchemaNotFound(UserError):
    """No schema (namespace) has that name."""

    code = "SCHEMA_NOT_FOUND"


class SchemaExists(UserError):
    """The name of a schema is taken."""

    code = "SCHEMA_ALREADY_EXISTS"


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


class CommitRefused(UserError):
    """A policy of the catalog forbids the commit; nothing was committed."""

    code = "HEADGATE_COMMIT_REFUSED"


class RequestRefused(UserError):
    """A server takes no such request: it is too large, too slow or in a form it does not read."""

    code = "HEADGATE_REQUEST_REFUSED"


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
    """A winner wrote the same application transaction, or a metadata domain that nobody can merge."""

    code = "DELTA_CONCURRENT_TRANSACTION"


class DomainConflict(ConcurrentTransaction):
    """A winner wrote the same metadata domain and nobody can merge the two."""

    code = "DELTA_CONCURRENT_TRANSACTION"


class ConcurrentWrite(ConflictError):
    """A winner wrote what this transaction depends on in a way that cannot be sorted out."""

    code = "DELTA_CONCURRENT_WRITE"


class RetriesExhausted(ConflictError):
    """Every attempt lost its race; nothing was committed."""

    code = "DELTA_MAX_COMMIT_RETRIES_EXCEEDED"


class GroupConflict(ConflictError):
    """Tables of a transaction were changed by others in a way it cannot follow; nothing was committed.

    ``conflicts`` has the error of each, by the table's name.
    """

    code = "HEADGATE_GROUP_CONFLICT"


class CommitUnknown(HeadgateError):
    """Nobody can say whether the commit was ratified; ask again later, delete nothing."""

    code = "HEADGATE_COMMIT_UNKNOWN"


class CatalogError(HeadgateError):
    """The catalog did not do what was asked."""


class NotAuthenticated(CatalogError):
    """Nobody knows who is asking: there is no token, or it is not valid (any more)."""

    code = "HEADGATE_NOT_AUTHENTICATED"


class NotAllowed(CatalogError):
    """The catalog refuses the proposal."""

    code = "HEADGATE_NOT_ALLOWED"


class CatalogUnavailable(CatalogError):
    """The catalog could not be reached and is known to have changed nothing."""

    code = "HEADGATE_CATALOG_UNAVAILABLE"
    retry = Retry.SAME


class CatalogLost(CatalogError):
    """The catalog's database is gone, or older than its tables; nothing was changed."""

    code = "HEADGATE_CATALOG_LOST"


class DatabaseUnusable(CatalogUnavailable):
    """The database behind the catalog is missing, read-only or none; nothing was changed, nor will be."""

    code = "HEADGATE_DATABASE_UNUSABLE"
    retry = Retry.NEVER


class TableFrozen(CatalogError):
    """The catalog is giving the table back and ratifies nothing of it at the moment; nothing was changed."""

    code = "HEADGATE_TABLE_FROZEN"
    retry = Retry.SAME


class TooManyUnpublished(CatalogError):
    """More ratified commits wait to be published than the catalog holds; nothing was changed."""

    code = "HEADGATE_TOO_MANY_UNPUBLISHED"
    retry = Retry.SAME


class SharedLog(CatalogError):
    """Others publish versions of the table themselves, which rules out what was asked."""

    code = "HEADGATE_SHARED_LOG"


class UnsafeDatabase(CatalogError):
    """The database behind the catalog is set up to lose acknowledged commits, or its disk failed."""

    code = "HEADGATE_UNSAFE_DATABASE"


class StaleRead(UserWarning):
    """Whoever decides a table's commits could not be asked, so later versions than those read may exist."""


class StorageError(HeadgateError):
    """An object store did not do what was asked."""


class ObjectNotFound(StorageError):
    """There is no such object."""

    code = "HEADGATE_OBJECT_NOT_FOUND"


class ObjectExists(StorageError):
    """The object exists already, and stays as it is."""

    code = "HEADGATE_OBJECT_EXISTS"


class AccessDenied(StorageError):
    """The store's credentials do not allow this."""

    code = "HEADGATE_ACCESS_DENIED"


class StorageUnavailable(StorageError):
    """The store failed; whether a write took effect is not known."""

    code = "HEADGATE_STORAGE_UNAVAILABLE"
    retry = Retry.SAME


class UnsafeStore(StorageError):
    """The store cannot create an object only if there is none, so two writers could both win a version."""

    code = "HEADGATE_UNSAFE_STORE"


class FileDamaged(StorageError):
    """A data file is there, and is not what the log says of it."""

    code = "HEADGATE_FILE_DAMAGED"


class CorruptLog(HeadgateError):
    """The log breaks one of its invariants."""

    code = "DELTA_VERSIONS_NOT_CONTIGUOUS"
