"""Which failures of Spark a statement survives by starting over."""

import pytest

from headgate.errors import ConcurrentWrite
from headgate.spark.session import retry_lost_rows

LOST = "[CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] Checkpoint block rdd_27_0 not found!"


class Statement:
    """Fails with these errors, one a time, and then gives its argument back."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.runs = 0

    def __call__(self, given: str) -> str:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)
        return given


def test_rows_that_were_lost_are_computed_again() -> None:
    statement = Statement(RuntimeError(LOST), RuntimeError(f"Job aborted: {LOST}"))

    assert retry_lost_rows.retry_when_checkpoint_lost(statement)("rows") == "rows"
    assert statement.runs == 3


def test_not_for_ever() -> None:
    statement = Statement(*(RuntimeError(LOST) for _ in range(9)))

    with pytest.raises(RuntimeError, match="CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"):
        retry_lost_rows.retry_when_checkpoint_lost(statement)("rows")
    assert statement.runs == 4


@pytest.mark.parametrize("error", [RuntimeError("a task failed"), ConcurrentWrite(f"by {LOST}", winner=1)])
def test_other_failures_are_told_at_once(error: Exception) -> None:
    statement = Statement(error)

    with pytest.raises(type(error)):
        retry_lost_rows.retry_when_checkpoint_lost(statement)("rows")
    assert statement.runs == 1
