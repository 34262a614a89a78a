"""An error of Headgate reaches users of ``delta.tables`` as the exception they know, with nothing lost."""

import inspect

import pytest
from pyspark.errors import AnalysisException, PySparkException

from headgate import errors
from headgate.delta import error_translation, exceptions
from headgate.delta.error_translation import ERRORS, delta_call, translate
from headgate.errors import HeadgateError

EVERY_ERROR = [
    found for _, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, HeadgateError)
]
CONFLICTS = {
    errors.ProtocolChanged: (exceptions.ProtocolChangedException, "DELTA_PROTOCOL_CHANGED"),
    errors.MetadataChanged: (exceptions.MetadataChangedException, "DELTA_METADATA_CHANGED"),
    errors.ConcurrentAppend: (exceptions.ConcurrentAppendException, "DELTA_CONCURRENT_APPEND"),
    errors.ConcurrentDeleteRead: (exceptions.ConcurrentDeleteReadException, "DELTA_CONCURRENT_DELETE_READ"),
    errors.ConcurrentDeleteDelete: (
        exceptions.ConcurrentDeleteDeleteException,
        "DELTA_CONCURRENT_DELETE_DELETE",
    ),
    errors.ConcurrentTransaction: (
        exceptions.ConcurrentTransactionException,
        "DELTA_CONCURRENT_TRANSACTION",
    ),
    errors.ConcurrentWrite: (exceptions.ConcurrentWriteException, "DELTA_CONCURRENT_WRITE"),
}


@pytest.mark.parametrize("error", EVERY_ERROR, ids=lambda error: error.__name__)
def test_every_error_is_an_exception_of_pyspark(error: type[HeadgateError]) -> None:
    raised = translate(error("it failed"))

    assert isinstance(raised, PySparkException)
    assert raised.getCondition()
    assert "it failed" in str(raised)


@pytest.mark.parametrize("error", CONFLICTS, ids=lambda error: error.__name__)
def test_a_conflict_has_deltas_name_error_class_and_sqlstate(error: type[HeadgateError]) -> None:
    raised = translate(error("somebody was faster"))

    assert (type(raised), raised.getCondition()) == CONFLICTS[error]
    assert raised.getSqlState() == "2D521"
    assert str(raised) == f"[{raised.getCondition()}] somebody was faster SQLSTATE: 2D521"


def test_a_race_that_is_lost_too_often_is_a_concurrent_modification() -> None:
    raised = translate(errors.RetriesExhausted("still losing"))

    assert type(raised) is exceptions.DeltaConcurrentModificationException
    assert (raised.getCondition(), raised.getSqlState()) == ("DELTA_MAX_COMMIT_RETRIES_EXCEEDED", "40000")


def test_our_error_is_the_cause() -> None:
    error = errors.ConcurrentAppend("somebody was faster", version=7)

    @delta_call
    def fails() -> None:
        raise error

    with pytest.raises(exceptions.ConcurrentAppendException) as raised:
        fails()

    assert raised.value.__cause__ is error


def test_what_spark_said_of_an_expression_keeps_its_error_class_and_sqlstate() -> None:
    error = errors.InvalidRequest("there is no such column", code="UNRESOLVED_ROUTINE")
    error.cause = AnalysisException(
        message="unresolved", errorClass="NO_ACTIVE_SESSION", messageParameters={}
    )
    raised = translate(error)

    assert type(raised) is AnalysisException
    assert raised.getCondition() == "UNRESOLVED_ROUTINE"
    assert raised.getSqlState() == error.cause.getSqlState()


def test_every_row_decides_about_something() -> None:
    decisive = set()
    for error in EVERY_ERROR:
        codes = [None, *(f"{code}X" for row in ERRORS if issubclass(error, row.error) for code in row.codes)]
        for code in codes:
            made = error("it failed", code=code)
            decisive.add(next(number for number, row in enumerate(ERRORS) if row.fits(made)))

    assert decisive == set(range(len(ERRORS)))


def test_public_methods_are_translated_and_private_ones_are_not() -> None:
    @error_translation.delta_calls
    class Calls:
        def public(self) -> None:
            self._private()

        @classmethod
        def shared(cls) -> None:
            raise errors.TableNotFound("nowhere")

        def _private(self) -> None:
            raise errors.TableNotFound("nowhere")

    for call in (Calls().public, Calls.shared):
        with pytest.raises(AnalysisException, match="DELTA_MISSING_DELTA_TABLE"):
            call()
    with pytest.raises(errors.TableNotFound):
        Calls()._private()
