"""How does a value become a page? By a template that only renders: text is escaped, gaps are errors.

What people and programs wrote, such as a comment or the name of a column, goes through ``foreign``: signs
that turn the direction of text or cannot be seen are spelled out, so no name can pretend to be another
(T11).
"""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar import MediaType, Response
from markupsafe import Markup

from headgate.catalog.ports.access import OWNER
from headgate.server.console.completed_actions import done_sentence
from headgate.server.console.views import formats
from headgate.server.console.visit import CSRF_FIELD, Visit, VisitedLake

PACKAGE = "headgate.server.console"
_LONGEST_TEXT = 2_000
_SHOWN_CONTROLS = frozenset("\n\t")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of signs that are spelled out."""


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "foreign": foreign,
        "count": formats.count,
        "things": formats.things,
        "size": formats.size,
        "moment": formats.moment,
        "ago": formats.ago,
        "iso": formats.iso,
        "duration": formats.duration,
        "plot": _plot_data,
        "segment": lambda text: quote(str(text), safe=""),
    }
    made.globals |= {"asset": asset_address, "csrf_field": CSRF_FIELD}
    return made


def foreign(text: object, longest: int = _LONGEST_TEXT) -> Markup:
    """A text of somebody else's, that neither hides anything nor reorders what stands around it."""
    whole = str(text)
    shown = "".join(map(_visible, whole[:longest]))
    cut = f"… ({len(whole)} characters)" if len(whole) > longest else ""
    return Markup("<bdi>{}</bdi>{}").format(shown, cut)


def _visible(sign: str) -> str:
    if sign in _SHOWN_CONTROLS or unicodedata.category(sign) not in _UNSEEN:
        return sign
    return f"⟨U+{ord(sign):04X}⟩"


def _plot_data(plot: object) -> str:
    """The numbers of a plot, as an attribute of the element that is drawn into."""
    return json.dumps(formats.plain(plot), separators=(",", ":"))


@cache
def asset_address(name: str) -> str:
    """Where a file of the console's own is, with what it holds in its address, so it may be kept for good."""
    digest = hashlib.sha256(resources.files(PACKAGE).joinpath("static", name).read_bytes()).hexdigest()
    return f"/console/static/{name}?v={digest[:12]}"


def render(template: str, values: Mapping[str, Any]) -> str:
    """The text of a page, or of a part of one."""
    return _environment().get_template(template).render(values)


def page(visit: Visit, template: str, lake: VisitedLake | None = None, **values: Any) -> Response[str]:
    """A page, or a part of one, for the visitor."""
    shared = {
        "principal": visit.caller.principal,
        "is_owner": visit.caller.principal == OWNER,
        "lake": None if lake is None else lake.name,
        "lakes": tuple(served.name for served in visit.lakes),
        "csrf": visit.session.csrf,
        "path": visit.path,
        "done": done_sentence(visit.done),
        "has_accounts": visit.has_accounts,
        "now_ms": 0 if lake is None else lake.now_ms,
    }
    cookies = [visit.parts.seal.cookie(visit.session)] if visit.is_new else []
    return Response(render(template, shared | values), media_type=MediaType.HTML, cookies=cookies)
