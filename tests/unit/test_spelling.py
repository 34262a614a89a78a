"""What may have been meant by a name that is not known."""

import pytest

from headgate.spelling import did_you_mean


@pytest.mark.parametrize(
    ("asked", "known", "says"),
    [
        ("dya", ["id", "day"], " did you mean 'day'?"),
        ("ORDER", ["orders", "x"], " did you mean 'orders'?"),
        ("zzz", ["id", "day"], ""),
        ("a", [], ""),
    ],
)
def test_near_names_are_told(asked: str, known: list[str], says: str) -> None:
    assert did_you_mean(asked, known) == says


def test_what_all_have_in_common_makes_none_nearer() -> None:
    assert did_you_mean("nothing", ["plain"], prefix="/a/long/way/") == ""
    assert did_you_mean("plane", ["plain"], prefix="/a/") == " did you mean '/a/plain'?"
