"""The actions that take live files away."""

from collections.abc import Iterator

import pyarrow as pa

from headgate.protocol.actions import DeletionVector, EpochMillis, RemoveFile


def removals(files: pa.Table, now: EpochMillis, *, data_change: bool = True) -> Iterator[RemoveFile]:
    """One for each row of a table of live files; their statistics need not be there."""
    for file in files.to_pylist():
        vector = file["deletion_vector"]
        yield RemoveFile(
            path=file["path"],
            deletion_timestamp=now,
            data_change=data_change,
            extended_file_metadata=True,
            partition_values=dict(file["partition_values"]),
            size=file["size"],
            deletion_vector=DeletionVector(**vector) if vector else None,
            base_row_id=file["base_row_id"],
            default_row_commit_version=file["default_row_commit_version"],
        )
