"""What can be wrong with a table at rest: the rules of ``headgate check``, as rows.

A rule cites the invariant it looks after. What a crash may leave behind is a note; what no
writer should have done but no reader suffers from, a warning; a broken invariant, an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

import msgspec


class Severity(Enum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Defect:
    """One row: what is wrong, which invariant that breaks, and what can be done about it."""

    name: str
    invariant: str
    severity: Severity
    says: str
    remedy: str
    repair: str = ""
    """What a repair does where it is provably safe; empty if there is none."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong, and where."""

    rule: str
    invariant: str
    severity: Severity
    where: str
    explanation: str
    remedy: str
    version: int | None = None
    repairable: bool = False


_RESTORE = "restore the file from a backup, or restore the table to a version that can be read"
_ASK = "find out who wrote it, move it away, and run the check again"
_DERIVED = "run the check with repair: it is made anew from the log"
_HARMLESS = "nothing must be done"
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

DEFECTS: tuple[Defect, ...] = (
    Defect("latest-differs", "I1", ERROR, "the catalog's latest version is not that of its last commit row",
         "restore the catalog's database from a backup"),
    Defect("rows-gap", "I2", ERROR, "the catalog's commit rows are not contiguous",
         "restore the catalog's database from a backup"),
    Defect("head-timestamp", "I8", ERROR, "the catalog's rows differ on when the latest commit was",
         "restore the catalog's database from a backup"),
    Defect("watermark-ahead", "I3", ERROR, "more is recorded as published than is ratified",
         "restore the catalog's database from a backup"),
    Defect("content-missing", "I4", ERROR, "the catalog lost the content of an unpublished commit",
         "restore the catalog's database from a backup",
         "the watermark moves past it, if its published file is what was ratified"),
    Defect("content-damaged", "I4", ERROR, "the catalog's copy of an unpublished commit is damaged",
         "restore the catalog's database from a backup",
         "the watermark moves past it, if its published file is what was ratified"),
    Defect("staged-missing", "I4", ERROR, "the staged file of an unpublished commit is gone", _RESTORE,
         "the watermark moves past it, if its published file is what was ratified"),
    Defect("staged-damaged", "I4", ERROR, "the staged file of an unpublished commit is not what was ratified",
         _RESTORE, "the watermark moves past it, if its published file is what was ratified"),
    Defect("description-differs", "I6", ERROR, "the catalog describes the table otherwise than its log does",
         "run the check with repair: clients then read the log", "the catalog forgets its description"),
    Defect("row-differs", "I9", ERROR, "a commit's txnId or timestamp is not the one in the catalog's row",
         "find out which of the two is right; the catalog's hash tells"),
    Defect("watermark-lags", "I3", NOTE, "more is published than the catalog was told",
         "nothing must be done: the next publication tells it", "the catalog is told"),
    Defect("published-missing", "I3", ERROR, "a published commit is gone from the log", _RESTORE,
         "it is published again, if its staged file is still there"),
    Defect("published-differs", "I3", ERROR, "a published commit is not what was ratified",
         "readers see another table than the catalog ratified: " + _ASK),
    Defect("publish-order", "I3", ERROR, "a version is published before the one that precedes it",
         "publish the table", "what is missing is published"),
    Defect("beyond-latest", "I6", ERROR, "the log has a file of a version that was never ratified",
         "it will stand in the way of that version: " + _ASK),
    Defect("log-gap", "I2", ERROR, "a version is missing from the log", _RESTORE),
    Defect("history-gap", "I2", WARNING, "an old version is missing, with a checkpoint after it",
         "the versions before that checkpoint cannot be read; the latest one can"),
    Defect("commit-damaged", "I6", ERROR, "a commit cannot be parsed", _RESTORE),
    Defect("no-protocol", "I6", ERROR, "the log begins without a protocol or metadata", _RESTORE),
    Defect("said-twice", "I18", ERROR, "a commit says the same thing twice",
         "readers may differ on what it means: have its writer corrected and commit again"),
    Defect("added-and-removed", "I18", ERROR, "a commit both adds and removes the same file",
         "readers may differ on what it means: have its writer corrected and commit again"),
    Defect("added-twice", "I9", ERROR, "a file is added that is there already",
         "rows may have been committed twice: compare the two commits"),
    Defect("live-twice", "I9", ERROR, "a data file is there with two deletion vectors",
         "its rows are read twice: delete or rewrite the file's rows"),
    Defect("removed-absent", "I9", WARNING, "a file is removed that is not there", _HARMLESS),
    Defect("txn-twice", "I9", ERROR, "two versions have the same txnId",
         "one operation may have been committed twice: compare the two commits"),
    Defect("application-order", "I13", WARNING, "an application's transactions do not count up",
         "look whether the application wrote something twice"),
    Defect("timestamp-missing", "I8", ERROR, "a commit does not begin with the timestamp its table promises",
         "time travel by timestamp fails: have its writer corrected"),
    Defect("timestamp-order", "I8", ERROR, "an in-commit timestamp does not come after the one before",
         "time travel by timestamp may choose a wrong version: have its writer corrected"),
    Defect("timestamp-enablement", "I8", ERROR, "the properties do not say since when there are timestamps",
         "switch delta.enableInCommitTimestamps off and on again"),
    Defect("timestamp-ahead", "I8", WARNING,
         "the newest in-commit timestamp is far ahead of the store's clock",
         "later versions follow it millisecond by millisecond: have the clock of its writer set, and ask for "
         "versions by number"),
    Defect("row-ids", "I15", ERROR, "row ids are missing, overlap, or exceed their mark",
         "switch row tracking off and on again"),
    Defect("not-managed", "I16", ERROR, "the catalog decides a table whose protocol does not say so",
         "drop the table from the catalog, or restore its log from a backup"),
    Defect("managed-elsewhere", "I16", NOTE, "a catalog decides this table, and was not asked",
         "check it through its catalog, which alone knows how far it reaches"),
    Defect("owned-elsewhere", "I16", NOTE, "a coordinator decides this table, and is not registered here",
         "register it, headgate.coordinators.register(…), and check again: it alone knows how far the table "
         "reaches"),
    Defect("owner-silent", "I16", WARNING, "the coordinator does not say which versions it ratified",
         "check again when it answers; if it is lost for good, table.force_uncoordinate(…) goes on after "
         "what is published"),
    Defect("owner-without-feature", "I16", ERROR, "the properties name a coordinator, the protocol does not",
         "clients that do not look at the properties commit past it: take the table back, "
         "table.uncoordinate(), and give it again"),
    Defect("feature-without-owner", "I16", WARNING, "the protocol asks for a coordinator, and none is named",
         "a release was interrupted: finish it with table.uncoordinate(), or name one, table.coordinate(…)"),
    Defect("checkpoint-unpublished", "I5", ERROR, "a checkpoint or compaction is of an unpublished version",
         "publish the table", "what is missing is published"),
    Defect("checkpoint-damaged", "I6", ERROR, "a checkpoint cannot be read", _DERIVED,
         "it is written anew, if the log can be read without it"),
    Defect("checkpoint-differs", "I6", ERROR, "a checkpoint is not what the commits come to", _DERIVED,
         "it is written anew"),
    Defect("checkpoint-incomplete", "I6", NOTE, "parts of a checkpoint are missing; nobody uses it",
         _HARMLESS),
    Defect("compaction-damaged", "I6", ERROR, "a compaction cannot be read", _DERIVED, "it is written anew"),
    Defect("compaction-differs", "I6", ERROR, "a compaction is not what its commits come to", _DERIVED,
         "it is written anew"),
    Defect("pointer-damaged", "I6", WARNING, "_last_checkpoint does not point to a checkpoint",
         "readers list the log instead, which takes longer", "it is written anew"),
    Defect("pointer-lags", "I6", NOTE, "_last_checkpoint does not point to the newest checkpoint",
         "nothing must be done: the next checkpoint corrects it", "it is written anew"),
    Defect("checksum-damaged", "I17", WARNING, "a checksum file cannot be read", _DERIVED,
         "it is written anew"),
    Defect("checksum-differs", "I17", ERROR, "a checksum file does not say what its version is", _DERIVED,
         "it is written anew"),
    Defect("data-missing", "I7", ERROR, "a data file is gone",
         "restore it from a backup; until then its rows are lost"),
    Defect("data-size", "I7", ERROR, "a data file does not have the size it was committed with",
         "restore it from a backup; until then reading it fails or gives other rows"),
    Defect("vector-missing", "I7", ERROR, "the file of a deletion vector is gone",
         "restore it from a backup; until then the data file cannot be read"),
    Defect("vector-damaged", "I7", ERROR, "a deletion vector is not what was committed",
         "restore it from a backup; until then the data file cannot be read"),
    Defect("group-torn", "I19", ERROR, "a group of commits is not ratified in all its tables",
         "restore the catalog's database from a backup"),
    Defect("staged-orphans", "I7", NOTE, "staged files that no commit names",
         "log clean-up deletes them in time"),
    Defect("orphans", "I7", NOTE, "files that the log does not name", "VACUUM deletes them in time"),
)  # fmt: skip

BY_NAME: Mapping[str, Defect] = MappingProxyType({rule.name: rule for rule in DEFECTS})


def without_repair(finding: Finding) -> Finding:
    """The finding if nothing may be written, as whoever decides the table's commits cannot be asked."""
    if not finding.repairable:
        return finding
    remedy = "run the check with repair where whoever decides the table's commits can be asked"
    return msgspec.structs.replace(finding, repairable=False, remedy=remedy)


def new_finding(
    rule: str, where: str, explanation: str, *, version: int | None = None, repairable: bool = False
) -> Finding:
    """A breach of the rule of this name."""
    row = BY_NAME[rule]
    return Finding(
        rule=rule,
        invariant=row.invariant,
        severity=row.severity,
        where=where,
        explanation=explanation,
        remedy=f"run the check with repair: {row.repair}" if repairable and row.repair else row.remedy,
        version=version,
        repairable=repairable,
    )
