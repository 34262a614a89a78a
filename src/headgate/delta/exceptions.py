"""What is raised when another commit forbids one? The exceptions of ``delta.exceptions``, by their names.

As there, the seven are no subclasses of ``DeltaConcurrentModificationException``; each is directly below
``PySparkException``. The error of Headgate that each stands for is its ``__cause__``:

    try:
        table.delete("day = '2026-01-31'")
    except ConcurrentAppendException as raised:
        raised.__cause__                       headgate.errors.ConcurrentAppend
"""

from pyspark.errors import PySparkException


class DeltaConcurrentModificationException(PySparkException):
    """A concurrent commit forbids this one, for none of the reasons below; or every attempt lost its race."""


class ConcurrentWriteException(PySparkException):
    """A concurrent commit wrote what this transaction depends on."""


class MetadataChangedException(PySparkException):
    """A concurrent commit changed the schema, the partitioning or the properties."""


class ProtocolChangedException(PySparkException):
    """A concurrent commit changed the protocol of the table."""


class ConcurrentAppendException(PySparkException):
    """A concurrent commit added rows that this transaction would have read."""


class ConcurrentDeleteReadException(PySparkException):
    """A concurrent commit removed a file that this transaction read."""


class ConcurrentDeleteDeleteException(PySparkException):
    """A concurrent commit removed a file that this transaction removes too."""


class ConcurrentTransactionException(PySparkException):
    """A concurrent commit wrote the same application transaction."""
