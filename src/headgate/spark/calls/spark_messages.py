"""What did Spark mean by an error about an expression? In its words, without its plans and our columns."""

import re

from pyspark.errors import AnalysisException, ParseException, PySparkException

from headgate.errors import InvalidRequest

_CODE = re.compile(r"^\[[\w.]+\]\s*")
_STATE = re.compile(r"\s*SQLSTATE: \w+;?")
_PLACE = re.compile(r"[;\s]*\(?line (\d+),? pos (\d+)\)?;?\s*$")
_OWN = re.compile(r"(,\s*)?`__headgate\w*`(?:\.`\w+`)?")
_UNRESOLVED, _OF_STREAMS = "UNRESOLVED_COLUMN", "STREAMING"


def plain_message(failure: PySparkException) -> str:
    """The first line of what Spark says, without code, SQLSTATE, plan and columns that only Headgate has."""
    line = next((line for line in str(failure).splitlines() if line.strip()), "")
    said = _PLACE.sub(r" (line \1, position \2)", _STATE.sub("", _CODE.sub("", line.strip())))
    return _OWN.sub("", said).replace("[, ", "[").strip().rstrip(".")


def invalid_expression(failure: AnalysisException) -> InvalidRequest | None:
    """The error for an expression that Spark cannot parse or resolve; None if it is about a stream."""
    code = error_condition(failure)
    if code.startswith(_OF_STREAMS):
        return None
    if isinstance(failure, ParseException):
        way = "correct the SQL"
    elif code.startswith(_UNRESOLVED):
        way = "correct the name, or if a text itself is meant, write F.lit('text') or quotes within the SQL"
    else:
        way = "correct the expression, or what the rows are made of"
    return InvalidRequest(
        f"Spark does not understand what was given: {plain_message(failure)}; {way}", code=code or None
    )


def error_condition(failure: PySparkException) -> str:
    """Spark's own code for it, such as UNRESOLVED_COLUMN.WITH_SUGGESTION; empty if it has none."""
    return failure.getCondition() or ""
