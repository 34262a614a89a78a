"""What a MERGE counts, in Delta's names."""

from headgate.spark.dml import dml_metrics
from headgate.spark.dml.edits import DELETES, UPDATES, Edits, Kind
from headgate.spark.dml.merge.merge_source import Source
from headgate.spark.dml.rewrite import Done

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


def of(source: Source, found: Edits, done: Done) -> dict[str, int]:
    """The metrics of a MERGE."""
    inserted, updated, deleted = (found.count(*kinds) for kinds in ((Kind.INSERTED,), UPDATES, DELETES))
    return {
        "numSourceRows": source.count,
        "numTargetRowsInserted": inserted,
        "numTargetRowsUpdated": updated,
        "numTargetRowsDeleted": deleted,
        "numTargetRowsMatchedUpdated": found.count(Kind.UPDATED),
        "numTargetRowsMatchedDeleted": found.count(Kind.DELETED),
        "numTargetRowsNotMatchedBySourceUpdated": found.count(Kind.UPDATED_WITHOUT_SOURCE),
        "numTargetRowsNotMatchedBySourceDeleted": found.count(Kind.DELETED_WITHOUT_SOURCE),
        "numOutputRows": inserted + updated + done.copied,
        **{_OF_FILES[name]: value for name, value in dml_metrics.of_files(done).items()},
    }
