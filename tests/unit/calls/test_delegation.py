"""Calls of a part offered by its owner: the same answers, signature and words, inside the boundary too."""

import inspect

import pytest

from headgate.calls.boundary import PLAIN
from headgate.calls.delegation import delegate
from headgate.errors import InvalidRequest


class Gears:
    """A part."""

    def __init__(self) -> None:
        self.turned = 0

    def turn(self, times: int, *, back: bool = False) -> int:
        """Turn so often."""
        self.turned += -times if back else times
        return self.turned


def _gears(mill: "Mill") -> Gears:
    return mill.gears


@PLAIN.user_calls
class Mill:
    """Its owner."""

    def __init__(self) -> None:
        self.gears = Gears()

    turn = delegate(_gears, Gears.turn)


def test_each_owner_calls_its_own_part() -> None:
    one, other = Mill(), Mill()

    assert one.turn(3) == 3 and one.turn(times=2, back=True) == 1
    assert (one.gears.turned, other.gears.turned) == (1, 0)


def test_what_is_offered_has_the_signature_and_the_words_of_the_part() -> None:
    assert inspect.signature(Mill.turn) == inspect.signature(Gears.turn)
    assert inspect.getdoc(Mill.turn) == "Turn so often." and Mill.turn.__name__ == "turn"


def test_arguments_are_taken_by_the_annotations_of_the_part() -> None:
    assert Mill().turn("3") == 3  # type: ignore[arg-type]  # as users write it
    with pytest.raises(InvalidRequest, match="back must be True or False"):
        Mill().turn(1, back="no")  # type: ignore[arg-type]  # what cannot be meant
