"""Every exception Headgate raises, in one tree.

The class says what the caller can do about it, ``code`` says exactly what happened (Delta's own
code wherever one exists), ``retry`` says whether trying again makes sense.

HeadgateError
├── UserError            the request cannot be carried out as asked
│   ├── TableNotFound · TableExists · SchemaNotFound · SchemaMismatch · ConstraintViolated
│   └── UnsupportedFeature · VersionNotFound · InvalidRequest · CommitRefused
├── ConflictError        a concurrent commit forbids this one; nothing was committed
│   ├── ProtocolChanged · MetadataChanged · ConcurrentAppend · ConcurrentDeleteRead
│   ├── ConcurrentDeleteDelete · ConcurrentWrite · RetriesExhausted · GroupConflict
│   └── ConcurrentTransaction
│       └── DomainConflict
├── CommitUnknown        nobody can say whether the commit was ratified; delete nothing
├── CatalogError
│   ├── NotAllowed · CatalogUnavailable · DatabaseUnusable · CatalogLost
│   └── TableFrozen · UnsafeDatabase · TooManyUnpublished · SharedLog
├── StorageError
│   ├── ObjectNotFound · ObjectExists · AccessDenied · StorageUnavailable · UnsafeStore
│   └── FileDamaged
└── CorruptLog           the log breaks one of its invariants
"""

from collections.abc import Mapping
from enum import Enum

from typing_extensions import override

from headgate import brief_errors

SQLSTATES: Mapping[str, str] = {
    "DELTA_ADDING_DELETION_VECTORS_DISALLOWED": "0A000",
    "DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED": "42000",
    "DELTA_AMBIGUOUS_PARTITION_COLUMN": "42702",
    "DELTA_CANNOT_MODIFY_APPEND_ONLY": "42809",
    "DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES": "42616",
    "DELTA_CANNOT_MODIFY_COORDINATED_COMMITS_DEPENDENCIES": "42616",
    "DELTA_CANNOT_MODIFY_TABLE_PROPERTY": "42939",
    "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS": "42616",
    "DELTA_CANNOT_SET_COORDINATED_COMMITS_DEPENDENCIES": "42616",
    "DELTA_CANNOT_UNSET_COORDINATED_COMMITS_CONFS": "42616",
    "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION": "428FT",
    "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE": "22003",
    "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE": "0AKDC",
    "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA": "42703",
    "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE": "22005",
    "DELTA_CONCURRENT_APPEND": "2D521",
    "DELTA_CONCURRENT_DELETE_DELETE": "2D521",
    "DELTA_CONCURRENT_DELETE_READ": "2D521",
    "DELTA_CONCURRENT_TRANSACTION": "2D521",
    "DELTA_CONCURRENT_WRITE": "2D521",
    "DELTA_CONFLICT_SET_COLUMN": "42701",
    "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND": "42616",
    "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_SESSION": "42616",
    "DELTA_DATA_CHANGE_FALSE": "0AKDE",
    "DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS": "2D521",
    "DELTA_DOMAIN_METADATA_NOT_SUPPORTED": "0A000",
    "DELTA_DUPLICATE_ACTIONS_FOUND": "2D521",
    "DELTA_DUPLICATE_COLUMNS_FOUND": "42711",
    "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR": "42601",
    "DELTA_EMPTY_DATA": "428GU",
    "DELTA_EXCEED_CHAR_VARCHAR_LIMIT": "22001",
    "DELTA_FAILED_TO_MERGE_FIELDS": "22005",
    "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH": "KD004",
    "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT": "0AKDE",
    "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION": "55000",
    "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL": "0AKDE",
    "DELTA_FEATURE_DROP_DEPENDENT_FEATURE": "55000",
    "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT": "0AKDE",
    "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED": "0AKDE",
    "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE": "0AKDE",
    "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE": "0AKDE",
    "DELTA_FILE_NOT_FOUND": "42K03",
    "DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH": "42K09",
    "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED": "429BQ",
    "DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN": "429BQ",
    "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED": "42808",
    "DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP": "42611",
    "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED": "42601",
    "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE": "428H2",
    "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED": "42808",
    "DELTA_IDENTITY_COLUMNS_WITH_GENERATED_EXPRESSION": "42613",
    "DELTA_ILLEGAL_OPTION": "42616",
    "DELTA_INVALID_ISOLATION_LEVEL": "25000",
    "DELTA_INVALID_PARTITIONING_SCHEMA": "XXKDS",
    "DELTA_INVALID_PROTOCOL_VERSION": "KD004",
    "DELTA_MAX_COMMIT_RETRIES_EXCEEDED": "40000",
    "DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE": "42806",
    "DELTA_MERGE_MISSING_WHEN": "42601",
    "DELTA_MERGE_UNRESOLVED_EXPRESSION": "42601",
    "DELTA_METADATA_CHANGED": "2D521",
    "DELTA_MISSING_NOT_NULL_COLUMN_VALUE": "23502",
    "DELTA_MODE_NOT_SUPPORTED": "0AKDC",
    "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE": "21506",
    "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND": "42616",
    "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_SESSION": "42616",
    "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION": "42601",
    "DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION": "42601",
    "DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION": "42601",
    "DELTA_NON_PARTITION_COLUMN_ABSENT": "KD005",
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED": "23502",
    "DELTA_NULL_SCHEMA_IN_STREAMING_WRITE": "42P18",
    "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE": "42613",
    "DELTA_PARTITION_COLUMN_CAST_FAILED": "22525",
    "DELTA_PARTITION_COLUMN_NOT_FOUND": "42703",
    "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED": "KD00G",
    "DELTA_PATH_DOES_NOT_EXIST": "42K03",
    "DELTA_PROTOCOL_CHANGED": "2D521",
    "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA": "XXKDS",
    "DELTA_REPLACE_WHERE_MISMATCH": "44000",
    "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE": "42613",
    "DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET": "42613",
    "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS": "22000",
    "DELTA_UNSET_NON_EXISTENT_PROPERTY": "42616",
    "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION": "0AKDC",
    "DELTA_UNSUPPORTED_CLONE_REPLACE_SAME_TABLE": "0AKDC",
    "DELTA_UNSUPPORTED_FEATURES_FOR_READ": "56038",
    "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE": "56038",
    "DELTA_UNSUPPORTED_FEATURE_STATUS": "0AKDE",
    "DELTA_UNSUPPORTED_FIELD_UPDATE_NON_STRUCT": "0AKDC",
    "DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING": "0AKDC",
    "DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR": "0AKDC",
    "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION": "42846",
    "HEADGATE_GROUP_CONFLICT": "2D521",
    "HEADGATE_UNSAFE_EXPRESSION": "42621",
    "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY": "0A000",
}
"""What Delta tells SQL clients for each of its codes."""


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


class CommitRefused(UserError):
    """A policy of the catalog forbids the commit; nothing was committed."""

    code = "HEADGATE_COMMIT_REFUSED"


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
    """Who decides a table's commits could not be asked, so later versions than those read may exist."""


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
