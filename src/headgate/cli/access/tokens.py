"""``headgate token``: by what the callers of a server are known."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.access import RevokedToken
from headgate.cli.console import OutputColumn
from headgate.cli.options import AsJson, LakePlace
from headgate.errors import InvalidRequest

if TYPE_CHECKING:
    from headgate.catalog.ports.access import StoredToken

_COLUMNS = (
    OutputColumn("id", style="bold"),
    OutputColumn("kind"),
    OutputColumn("principal"),
    OutputColumn("good for"),
    OutputColumn("until (UTC)", is_whole=True),
    OutputColumn("label"),
)


def create_token(
    principal: Annotated[str, typer.Argument(help="Whose token it is.")],
    *,
    days: Annotated[float, typer.Option("--days", help="For how long it is good.")] = 90.0,
    read_only: Annotated[bool, typer.Option("--read-only", help="Good for reading alone.")] = False,
    schema: Annotated[str | None, typer.Option("--schema", help="Good for this schema alone.")] = None,
    label: Annotated[str, typer.Option("--label", help="What it is for.")] = "",
    client: Annotated[
        bool, typer.Option("--client", help="An id and a secret for OAuth client credentials.")
    ] = False,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Make a token; its secret is shown here and never again."""
    with folder.open_lake(lake) as opened:
        if schema is not None:
            folder.require_schema(opened, schema)
        made = opened.lake.create_token(
            principal, days=days, read_only=read_only, schema=schema, label=label, client=client
        )
    if as_json:
        console.show_json({"token": made.token, "secret": made.secret})
        return
    out = console.out()
    if client:
        out.print(f"client id: {made.token.token_id}", markup=False, soft_wrap=True)
    out.print(made.secret, markup=False, soft_wrap=True, highlight=False)


def list_tokens(lake: LakePlace = None, as_json: AsJson = False) -> None:
    """List the tokens that are good, without their secrets."""
    with folder.open_lake(lake) as opened:
        found = opened.lake.tokens()
    if as_json:
        console.show_json(found)
    elif found:
        console.show_table(console.out(), _COLUMNS, [_line(token) for token in found])
    else:
        console.say("no token is good: headgate token create NAME makes one")


def revoke_token(
    token_id: Annotated[str, typer.Argument(help="The id of the token, as headgate token list shows it.")],
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Take a token back, with those made by means of it."""
    with folder.open_lake(lake) as opened:
        if not opened.lake.revoke_token(token_id):
            raise InvalidRequest("there is no token of that id: headgate token list shows those there are")
    if as_json:
        console.show_json(RevokedToken(token_id=token_id))
    else:
        console.say(f"the token {token_id} is good no more")


def _line(token: "StoredToken") -> tuple[str, ...]:
    until = datetime.fromtimestamp(token.expires_ms / 1000, UTC)
    good_for = [
        f"schema {token.scope.schema}" if token.scope.schema else "the lake",
        "reading" if token.scope.read_only else "",
    ]
    return (
        token.token_id,
        token.kind.value,
        str(token.principal),
        ", ".join(filter(None, good_for)),
        until.strftime("%Y-%m-%d %H:%M"),
        token.label,
    )
