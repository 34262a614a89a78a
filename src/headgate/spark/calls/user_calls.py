"""What is the same about every call of a user that may reach Spark: its arguments, and its errors too.

An expression that Spark cannot parse or resolve leaves as an error of Headgate, told as briefly as others.
"""

from pyspark.errors import AnalysisException

from headgate.calls.boundary import UNKNOWN_SUBJECT, Boundary, CallSubject
from headgate.errors import HeadgateError
from headgate.spark.calls import spark_messages
from headgate.spark.calls.option_kwargs import KINDS

__all__ = ["SPARK", "UNKNOWN_SUBJECT", "CallSubject", "user_call", "user_calls"]


def _meaning(failure: Exception) -> HeadgateError | None:
    return spark_messages.invalid_expression(failure) if isinstance(failure, AnalysisException) else None


SPARK = Boundary(KINDS, _meaning)
"""The boundary of what can be called with what is Spark's."""
user_call = SPARK.user_call
user_calls = SPARK.user_calls
