"""How is a server set up? By rows: each setting has a default, a line in a file, a variable and a flag.

    [server]
    host = "0.0.0.0"            HEADGATE_SERVER_HOST=0.0.0.0            headgate serve --host 0.0.0.0

    [[lakes]]
    name = "main"
    place = "/data/lake"

A flag is stronger than a variable, and a variable than the file. Lakes and webhooks are in the file, or a
single lake on the command line; secrets are in neither: a webhook names the variable or the file of its own.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec

from headgate.errors import InvalidRequest
from headgate.server.trusted_issuers import TrustedIssuer, read_issuers
from headgate.server.webhooks.registration import Webhook, read_webhooks

PREFIX = "HEADGATE_SERVER_"
SettingValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class LakeSettings:
    """A lake that is to be served."""

    name: str
    place: str = field(repr=False)  # it may have a password
    warehouse: str | None = None


def _setting(sentence: str, *, default: Any) -> Any:
    return field(default=default, metadata={"sentence": sentence})


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where a server listens, whom it trusts and how much it takes on."""

    lakes: tuple[LakeSettings, ...] = ()
    webhooks: tuple[Webhook, ...] = ()
    issuers: tuple[TrustedIssuer, ...] = ()
    stores: tuple[Mapping[str, Any], ...] = ()
    """Rows about credentials for clients, as they are written; there are no secrets in them."""
    host: str = _setting("The address to listen on.", default="127.0.0.1")
    port: int = _setting("The port to listen on; 0 takes a free one.", default=8080)
    tls_certificate: str | None = _setting("The file with the certificate chain, for HTTPS.", default=None)
    tls_key: str | None = _setting("The file with the private key of the certificate.", default=None)
    behind_proxy: bool = _setting("A proxy in front of the server does TLS.", default=False)
    auth: bool = _setting("Ask callers who they are; without it only on the own machine.", default=True)
    admin_token_file: str | None = _setting(
        "The file of the owner's token, made if there is none; next to the first lake unless it is named.",
        default=None,
    )
    workers: int = _setting("How many processes serve; more than one takes PostgreSQL.", default=1)
    threads: int = _setting("How many requests of a process are worked on at once.", default=64)
    log_format: str = _setting("json for one object a line, or text.", default="json")
    log_level: str = _setting("debug, info, warning or error.", default="info")
    body_bytes: int = _setting(
        "The largest body of a request that carries commits.", default=32 * 1024 * 1024
    )
    small_body_bytes: int = _setting("The largest body of any other request.", default=1024 * 1024)
    body_seconds: float = _setting("How long a body may take to arrive.", default=30.0)
    request_seconds: float = _setting("How long an answer may take.", default=120.0)
    json_depth: int = _setting("How deep JSON may be nested.", default=100)
    json_values: int = _setting("How many values the JSON of a body may have.", default=200_000)
    header_bytes: int = _setting(
        "How large all headers of a request may be, and its address.", default=32 * 1024
    )
    requests: int = _setting(
        "How many requests a process has at once; more are told to come again.", default=1_024
    )
    requests_per_principal: int = _setting("How many of them one caller may have.", default=256)
    streams_per_principal: int = _setting("How many streams of events one caller may follow.", default=8)
    drain_seconds: float = _setting("How long a stopping server waits for requests in flight.", default=30.0)
    publish_seconds: float = _setting(
        "How often a server looks for commits that nobody published.", default=1.0
    )
    events_seconds: float = _setting("How often streams and webhooks look for new events.", default=0.5)
    heartbeat_seconds: float = _setting(
        "After how long without an event a stream says that it lives.", default=15.0
    )
    strict: bool = _setting(
        "Behave as Unity Catalog does, without our extensions and with its limit of unpublished commits.",
        default=False,
    )
    private_webhooks: bool = _setting(
        "Let webhooks call addresses of private networks and of the own machine, also by http.", default=False
    )


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting, by its names in each place."""

    name: str
    type: type
    default: SettingValue
    sentence: str

    @property
    def variable(self) -> str:
        """The environment variable."""
        return PREFIX + self.name.upper()

    @property
    def flag(self) -> str:
        """The option of ``headgate serve``; what is on by default is switched off by its opposite."""
        spelled = self.name.replace("_", "-")
        if self.type is not bool:
            return f"--{spelled}"
        return f"--{spelled}/--no-{spelled}"


def _row(name: str, kind: Any, default: Any, sentence: str) -> SettingRow:
    plain = next((one for one in (bool, int, float, str) if kind in (one, one | None)), str)
    return SettingRow(name, plain, default, sentence)


ROWS: tuple[SettingRow, ...] = tuple(
    _row(each.name, each.type, None if each.default is MISSING else each.default, each.metadata["sentence"])
    for each in fields(ServerSettings)
    if "sentence" in each.metadata
)


def load_settings(
    file: Path | None, environment: Mapping[str, str], flags: Mapping[str, SettingValue]
) -> ServerSettings:
    """The settings of a file, with those of variables and then of flags in place of them."""
    written = {} if file is None else _read_file(file)
    chosen: dict[str, Any] = dict(_from_file(written.get("server", {}), file))
    chosen |= {
        row.name: _parse(row, environment[row.variable]) for row in ROWS if row.variable in environment
    }
    chosen |= {name: value for name, value in flags.items() if value is not None}
    made = ServerSettings(
        lakes=_read_lakes(written.get("lakes", ())),
        webhooks=read_webhooks(written.get("webhooks", ())),
        issuers=read_issuers(written.get("issuers", ())),
        stores=tuple(written.get("stores", ())),
        **chosen,
    )
    require_sound_settings(made)
    return made


_MANY = ("lakes", "webhooks", "issuers", "stores")
"""What a file may have any number of."""


def _read_file(file: Path) -> Mapping[str, Any]:
    try:
        written = tomllib.loads(file.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidRequest(
            f"the settings in {str(file)!r} cannot be read: {exc}. Name another file"
        ) from exc
    strange = sorted(set(written) - {"server", *_MANY})
    if strange:
        raise InvalidRequest(
            f"{str(file)!r} has {', '.join(strange)}, which is nothing of a server: it has a table "
            f"[server], and any number of {', '.join(f'[[{each}]]' for each in _MANY)}"
        )
    return written


def _from_file(server: Mapping[str, Any], file: Path | None) -> Mapping[str, Any]:
    rows = {row.name: row for row in ROWS}
    for name, value in server.items():
        if name not in rows:
            raise InvalidRequest(
                f"{str(file)!r} sets {name!r}, which no setting is called: headgate serve --help"
            )
        _require_type(rows[name], value)
    return {name: rows[name].type(value) for name, value in server.items()}


def _require_type(row: SettingRow, value: object) -> None:
    fits = isinstance(value, int | float) if row.type is float else isinstance(value, row.type)
    if not fits or (isinstance(value, bool) and row.type is not bool):
        raise InvalidRequest(f"{row.name} takes a value of type {row.type.__name__}, and not {value!r}")


def _parse(row: SettingRow, text: str) -> SettingValue:
    try:
        parsed: SettingValue = msgspec.convert(text, row.type, strict=False)
    except msgspec.ValidationError as exc:
        raise InvalidRequest(
            f"{row.variable}={text!r} is no {row.type.__name__}: {row.sentence.lower()}"
        ) from exc
    return parsed


def _read_lakes(written: Sequence[Mapping[str, Any]]) -> tuple[LakeSettings, ...]:
    try:
        return tuple(msgspec.convert(dict(each), LakeSettings) for each in written)
    except (msgspec.ValidationError, TypeError, ValueError) as exc:
        raise InvalidRequest(f"each of [[lakes]] has a name, a place and perhaps a warehouse: {exc}") from exc


@dataclass(frozen=True, slots=True)
class _Requirement:
    holds: Callable[[ServerSettings], bool]
    sentence: str


_COUNTS = (
    "workers", "threads", "body_bytes", "small_body_bytes", "body_seconds", "request_seconds", "json_depth",
    "json_values", "header_bytes", "requests", "requests_per_principal", "streams_per_principal",
    "publish_seconds", "events_seconds", "heartbeat_seconds",
)  # fmt: skip
_REQUIREMENTS: tuple[_Requirement, ...] = (
    *(
        _Requirement(lambda made, name=name: getattr(made, name) > 0, f"{name} is more than 0")  # type: ignore[misc]
        for name in _COUNTS
    ),
    _Requirement(lambda made: 0 <= made.port <= 65_535, "port is one from 0 to 65535"),
    _Requirement(lambda made: made.drain_seconds >= 0, "drain_seconds is 0 or more"),
    _Requirement(lambda made: made.log_format in ("json", "text"), "log_format is json or text"),
    _Requirement(
        lambda made: made.log_level in ("debug", "info", "warning", "error"),
        "log_level is debug, info, warning or error",
    ),
    _Requirement(
        lambda made: all(lake.name == lake.name.lower() and _is_plain(lake.name) for lake in made.lakes),
        "the name of a lake has lower-case letters, digits, _ and -",
    ),
    _Requirement(
        lambda made: len({lake.name for lake in made.lakes}) == len(made.lakes), "each lake has its own name"
    ),
    _Requirement(
        lambda made: (
            {hook.lake for hook in made.webhooks} <= {lake.name for lake in made.lakes} or not made.lakes
        ),
        "a webhook is of a lake that is served",
    ),
)


def _is_plain(name: str) -> bool:
    return 0 < len(name) <= 255 and name.isascii() and name.replace("_", "").replace("-", "").isalnum()


def require_sound_settings(made: ServerSettings) -> None:
    """Refuse settings that make no sense, by the first rule that they break."""
    broken = next((row for row in _REQUIREMENTS if not row.holds(made)), None)
    if broken is not None:
        raise InvalidRequest(f"the server cannot be set up so: {broken.sentence}")
