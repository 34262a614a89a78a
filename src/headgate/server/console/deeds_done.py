"""What was done just now? A word in the address of the page that follows, and the sentence it stands for."""

from collections.abc import Mapping
from enum import Enum


class Done(Enum):
    """What a form of the console may have done."""

    GRANTED = "granted"
    REVOKED = "revoked"
    NOT_GRANTED = "was-not-granted"
    PERMITTED = "permitted"
    FORBIDDEN = "forbidden"
    TENDED = "tended"
    NOTHING_DUE = "nothing-due"
    REPAIRED = "repaired"
    ADOPTED = "adopted"
    RELEASED = "released"


_SENTENCES: Mapping[Done, str] = {
    Done.GRANTED: "The privilege was granted.",
    Done.REVOKED: "The grant was taken back.",
    Done.NOT_GRANTED: "There was no such grant to take back: nothing was changed.",
    Done.PERMITTED: "This kind of maintenance is permitted now.",
    Done.FORBIDDEN: "This kind of maintenance is not permitted any more.",
    Done.TENDED: "What was due and needs no Spark was done.",
    Done.NOTHING_DUE: "Nothing was due that needs no Spark: nothing was done.",
    Done.REPAIRED: "What could be repaired was repaired. Check it once more to see what is left.",
    Done.ADOPTED: "The table was adopted: from now on the catalog decides its commits.",
    Done.RELEASED: "The table was released: it is an ordinary Delta table again, and its name is free.",
}


def done_sentence(word: str) -> str:
    """What a word of an address means; nothing if it is none of these, for anybody may write an address."""
    found = next((each for each in Done if each.value == word), None)
    return "" if found is None else _SENTENCES[found]
