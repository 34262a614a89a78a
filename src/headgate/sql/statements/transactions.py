"""Where do transactions over several tables begin and end?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BeginTransaction:
    """BEGIN [TRANSACTION | WORK], START TRANSACTION."""


@dataclass(frozen=True, slots=True)
class CommitTransaction:
    """COMMIT [TRANSACTION | WORK]."""


@dataclass(frozen=True, slots=True)
class RollbackTransaction:
    """ROLLBACK [TRANSACTION | WORK]."""
