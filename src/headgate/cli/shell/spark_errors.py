"""What does an error of Spark say to a person? Its first sentence and its code, without a plan."""

import re

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from headgate.errors import InvalidRequest

_UNNAMED = "HEADGATE_SPARK_FAILED"
_CONDITION = re.compile(r"^\[(?P<code>[A-Z0-9_.]+)\]\s*")
_REST = re.compile(r"\s*(?:SQLSTATE: \w+)?(?:; line \d+ pos \d+)?;?\n[\s\S]*$|\s+SQLSTATE: \w+\s*$")
_POSITION = re.compile(r"\(line (?P<line>\d+), pos (?P<column>\d+)\)")


def explain_spark_error(error: PySparkException | Py4JError) -> InvalidRequest:
    """The same error as one that has a cause and a code."""
    text = str(error).strip() or type(error).__name__
    found = _CONDITION.match(text)
    code = (_condition_of(error) or (found and found["code"])) or _UNNAMED
    cause = _CONDITION.sub("", text)
    first = _REST.sub("", cause) or cause.splitlines()[0]
    place = _POSITION.search(cause)
    if place is not None and place[0] not in first:
        first = f"{first} {place[0]}"
    return InvalidRequest(first, code=code)


def _condition_of(error: PySparkException | Py4JError) -> str | None:
    return error.getCondition() if isinstance(error, PySparkException) else None
