"""What a MERGE counts, in Delta's names."""

from headgate.spark.dml import dml_metrics
from headgate.spark.dml.edits import DELETES, UPDATES, EditKind, Edits
from headgate.spark.dml.merge.merge_source import MergeSource
from headgate.spark.dml.rewrite import RewriteOutput

_OF_FILES = {
    "numAddedFiles": "numTargetFilesAdded",
    "numRemovedFiles": "numTargetFilesRemoved",
    "numAddedBytes": "numTargetBytesAdded",
    "numRemovedBytes": "numTargetBytesRemoved",
    "numCopiedRows": "numTargetRowsCopied",
    "numAddedChangeFiles": "numTargetChangeFilesAdded",
    "numDeletionVectorsAdded": "numTargetDeletionVectorsAdded",
    "numDeletionVectorsUpdated": "numTargetDeletionVectorsUpdated",
    "numDeletionVectorsRemoved": "numTargetDeletionVectorsRemoved",
}


def operation_metrics(source: MergeSource, found: Edits, done: RewriteOutput) -> dict[str, int]:
    """The metrics of a MERGE."""
    inserted, updated, deleted = (found.count(*kinds) for kinds in ((EditKind.INSERTED,), UPDATES, DELETES))
    return {
        "numSourceRows": source.count,
        "numTargetRowsInserted": inserted,
        "numTargetRowsUpdated": updated,
        "numTargetRowsDeleted": deleted,
        "numTargetRowsMatchedUpdated": found.count(EditKind.UPDATED),
        "numTargetRowsMatchedDeleted": found.count(EditKind.DELETED),
        "numTargetRowsNotMatchedBySourceUpdated": found.count(EditKind.UPDATED_WITHOUT_SOURCE),
        "numTargetRowsNotMatchedBySourceDeleted": found.count(EditKind.DELETED_WITHOUT_SOURCE),
        "numOutputRows": inserted + updated + done.copied,
        **{_OF_FILES[name]: value for name, value in dml_metrics.file_metrics(done).items()},
    }
