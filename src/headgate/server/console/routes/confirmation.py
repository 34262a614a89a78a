"""Is this really to be done? What changes something is shown as a sentence, then confirmed.

    POST …/grants                       what is asked for
    303  …/grants/confirm?operation=…        the question: a page, so going back and forth does no harm
    POST …/grants       confirmed=yes   it is done
    303  …/grants?done=granted          and said to be

The address of a question proves that a form of this session asked for it: no link of others leads there
(T18).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from litestar import Response
from litestar.response import Redirect

from headgate.server.console.completed_actions import CompletedAction
from headgate.server.console.rendering import page
from headgate.server.console.visit import CSRF_FIELD, PROOF, Form, Visit, VisitedLake, proof_of

CONFIRMED = "confirmed"
QUESTION = "/confirm"
"""Where the question of a form is, after the address of the form."""


@dataclass(frozen=True, slots=True)
class ConfirmableAction:
    """Something that changes the lake: what it is, what it means, and doing it."""

    title: str
    sentence: str
    button: str
    back: str
    """The page of the form, for those who leave it."""
    do: Callable[[], CompletedAction]
    onward: str = ""
    """The page to go on to when it is done, if that is another one."""


def ask_or_do(visit: Visit, form: Form, action: ConfirmableAction) -> Redirect:
    """Lead to the question whether it is to be done, or, if the form has the answer, do it and go on."""
    if form.get(CONFIRMED) == "yes":
        done = action.do()
        return Redirect(f"{action.onward or action.back}?done={done.value}", status_code=303)
    fields = {name: value for name, value in form.items() if name not in (CSRF_FIELD, CONFIRMED, PROOF)}
    asked = urlencode({**fields, PROOF: proof_of(fields, visit.session)})
    return Redirect(f"{visit.address}{QUESTION}?{asked}", status_code=303)


def confirmation_page(
    visit: Visit, lake: VisitedLake, action: ConfirmableAction, asked: Form
) -> Response[Any]:
    """The page that says what is about to be done."""
    address = visit.address.removesuffix(QUESTION)
    return page(
        visit, "confirm.html", lake, action=action, fields=asked, address=address, confirmed=CONFIRMED
    )
