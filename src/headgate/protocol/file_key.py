"""Which adds and removes concern the same file: those with its path and the same deleted rows."""

from headgate.protocol.actions import AddFile, DeletionVector, RemoveFile

FileKey = tuple[str, str | None]


def of(action: AddFile | RemoveFile) -> FileKey:
    """The primary key of a file in the log (spec: action-reconciliation)."""
    return action.path, vector_id(action.deletion_vector)


def vector_id(vector: DeletionVector | None) -> str | None:
    """What tells a deletion vector from the others of its file (spec: derived-fields)."""
    if vector is None:
        return None
    offset = "" if vector.offset is None else f"@{vector.offset}"
    return f"{vector.storage_type}{vector.path_or_inline_dv}{offset}"
