"""What was done just now? A word in the address of the page that follows, and the sentence it stands for."""

from collections.abc import Mapping
from enum import Enum


class CompletedAction(Enum):
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


_SENTENCES: Mapping[CompletedAction, str] = {
    CompletedAction.GRANTED: "The privilege was granted.",
    CompletedAction.REVOKED: "The grant was taken back.",
    CompletedAction.NOT_GRANTED: "There was no such grant to take back: nothing was changed.",
    CompletedAction.PERMITTED: "This kind of maintenance is permitted now.",
    CompletedAction.FORBIDDEN: "This kind of maintenance is not permitted any more.",
    CompletedAction.TENDED: "What was due and needs no Spark was done.",
    CompletedAction.NOTHING_DUE: "Nothing was due that needs no Spark: nothing was done.",
    CompletedAction.REPAIRED: "What could be repaired was repaired. Check it once more to see what is left.",
    CompletedAction.ADOPTED: "The table was adopted: from now on the catalog decides its commits.",
    CompletedAction.RELEASED: "The table was released: an ordinary Delta table now, whose name is free.",
}


def done_sentence(word: str) -> str:
    """What a word of an address means; nothing if it is none of these, for anybody may write an address."""
    found = next((each for each in CompletedAction if each.value == word), None)
    return "" if found is None else _SENTENCES[found]
