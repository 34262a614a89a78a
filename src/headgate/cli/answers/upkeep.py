"""What do the commands print as JSON that serve a lake or say how it is found?"""

from headgate.cli.answers.answer import Answer


class ServerStarted(Answer, frozen=True, kw_only=True):
    """A server that listens; a line of its own, printed when it does."""

    lakes: tuple[str, ...]
    address: str
    token_file: str | None
    """The file with the owner's token; null without authentication."""


class ServerSetting(Answer, frozen=True, kw_only=True):
    """A setting of the server, with its value here."""

    name: str
    value: str | int | float | bool | None
    default: str | int | float | bool | None
    variable: str
    flag: str
    meaning: str


class ChosenLake(Answer, frozen=True, kw_only=True):
    """Which lake is meant, and why."""

    lake: str
    """Without a password."""
    origin: str
    file: str | None
    """The file that names it, if one does."""
    token: str | None
    """Where the token comes from; null if none is sent."""
    user_file: str
    """Where the user's own configuration is, or would be."""


class MaintenanceKind(Answer, frozen=True, kw_only=True):
    """A kind of maintenance, and whether it may be done."""

    table: str
    kind: str
    permitted: bool


class DemoTable(Answer, frozen=True, kw_only=True):
    """A table of the demo."""

    name: str
    version: int
    num_rows: int | None


class DemoClaim(Answer, frozen=True, kw_only=True):
    """Something the demo says, and whether it is so."""

    claim: str
    holds: bool


class DemoStory(Answer, frozen=True, kw_only=True):
    """What the demo made, and what it claimed."""

    lake: str
    seconds: float
    claims: tuple[DemoClaim, ...]
    tables: tuple[DemoTable, ...]
