"""Is this really to be done? What changes something is shown as a sentence, then confirmed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from litestar import Response
from litestar.response import Redirect

from headgate.server.console.rendering import page
from headgate.server.console.visit import CSRF_FIELD, Form, Visit, VisitedLake

CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that changes the lake: what it is, what it means, and doing it."""

    title: str
    sentence: str
    button: str
    back: str
    """The page to go back to, and on to when it is done."""
    do: Callable[[], object]


def confirm_or_do(visit: Visit, lake: VisitedLake, form: Form, deed: Deed) -> Response[Any]:
    """Ask for a confirmation, or, if the form has it, do it and go on."""
    if form.get(CONFIRMED) != "yes":
        fields = {name: value for name, value in form.items() if name not in (CSRF_FIELD, CONFIRMED)}
        return confirmation_page(visit, lake, deed, fields)
    deed.do()
    return Redirect(deed.back, status_code=303)


def confirmation_page(
    visit: Visit, lake: VisitedLake, deed: Deed, fields: Mapping[str, str]
) -> Response[str]:
    """The page that says what is about to be done."""
    answer = page(visit, "confirm.html", lake, deed=deed, fields=fields, confirmed=CONFIRMED)
    answer.status_code = 200
    return answer
