"""What does an exception remember that is told briefly?"""

import traceback
from types import TracebackType

from headgate.redaction import redact


class BriefError(Exception):
    """An exception that may leave without its frames and causes, and still knows them."""

    __slots__ = ("cause", "origin")  # not in what is pickled: neither frames nor Java's failures can be

    def __init__(self, message: str) -> None:
        self.message = redact(message)  # T15
        super().__init__(self.message)
        self.cause: BaseException | None = None
        """What another library said, such as the failure of a Spark job."""
        self.origin: TracebackType | None = None
        """The frames it came through, once it has left without them."""

    def reword(self, message: str) -> None:
        """Say the same in other words, which name the table as its user does."""
        self.message = redact(message)
        self.args = (self.message,)

    def details(self) -> str:
        """All there is to know, for whoever mends it: the whole traceback, behind that of its cause."""
        cause = () if self.cause is None else traceback.format_exception(self.cause)
        frames = self.origin or self.__traceback__
        return "".join((*cause, *traceback.format_exception(type(self), self, frames)))
