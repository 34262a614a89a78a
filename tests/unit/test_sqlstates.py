"""What SQL clients are told besides the code."""

import pytest

from headgate.errors import ConflictError, CorruptLog, DomainConflict
from headgate.sqlstates import SQLSTATES


@pytest.mark.parametrize(
    "error", [*ConflictError.__subclasses__(), DomainConflict], ids=lambda error: error.__name__
)
def test_every_conflict_has_a_sqlstate(error: type[ConflictError]) -> None:
    assert error("lost").sqlstate in ("2D521", "40000")


def test_the_sqlstate_goes_with_the_code_and_not_with_the_class() -> None:
    dropped = ConflictError("lost", code="DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL")

    assert dropped.sqlstate == "0AKDE"
    assert CorruptLog("damaged", code="HEADGATE_SOMETHING").sqlstate is None


def test_a_sqlstate_is_five_characters() -> None:
    assert all(len(state) == 5 and state.isalnum() for state in SQLSTATES.values())
