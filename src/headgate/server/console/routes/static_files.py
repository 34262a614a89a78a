"""Which files does the console bring? Its style, its scripts and their licences, out of the package."""

import mimetypes
from importlib import resources
from typing import Any

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response import Redirect

from headgate.server.console.rendering import PACKAGE, asset_address

FILES: dict[str, bytes] = {
    each.name: each.read_bytes() for each in resources.files(PACKAGE).joinpath("static").iterdir()
}
"""What is there, by its name: nothing that a caller names is looked for anywhere else."""


@get("/console/static/{name:str}", sync_to_thread=False)
def show_file(name: FromPath[str]) -> Response[Any]:
    """One of the files; its address changes with what it holds, so it may be kept."""
    if name not in FILES:
        raise NotFoundException
    kind = mimetypes.guess_type(name)[0] or "text/plain"
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(FILES[name], media_type=kind, headers=headers)


@get("/favicon.ico", sync_to_thread=False)
def show_icon() -> Redirect:
    """Where the icon is, for a browser that asks without having seen a page."""
    return Redirect(asset_address("icon.svg"), status_code=303)
