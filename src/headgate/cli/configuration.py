"""Which lake is meant, and by which token? What is said on the command line, else a variable, else a file.

    lake = "postgresql://headgate@db.example.com/lake"     # or a folder, or https://host/lake

stands in ``headgate.toml`` of the current folder or one above it, or in ``config.toml`` of the user, below
``~/.config/headgate``. The file of the user also says where tokens are, each for one server:

    [servers."https://lakes.example.com"]
    token_file = "~/.config/headgate/lakes.token"          # for its owner alone: chmod 600

A token is never given on the command line, where others see it. And a folder that somebody sent does not
make the command line give it away: the token in ``HEADGATE_TOKEN`` goes to lakes that the user has named,
and to one that a ``headgate.toml`` names only what the file of the user has for its server.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from headgate.errors import InvalidRequest

LAKE_VARIABLE = "HEADGATE_LAKE"
TOKEN_VARIABLE = "HEADGATE_TOKEN"
TOKEN_FILE_VARIABLE = "HEADGATE_TOKEN_FILE"
FOLDER_FILE = "headgate.toml"
USER_FILE = "config.toml"
DEFAULT_PLACE = "lake"
_PORTS = {"http": 80, "https": 443}
_LARGEST_TOKEN = 16_384


class Origin(Enum):
    """Who said which lake is meant; the first that says something counts."""

    NAMED = "the command line"
    VARIABLE = "HEADGATE_LAKE"
    FOLDER = "headgate.toml"
    USER = "the user's config.toml"
    DEFAULT = "the default"


class TokenOrigin(Enum):
    """Where a token comes from; the first that says something counts."""

    VARIABLE = "HEADGATE_TOKEN"
    FILE_VARIABLE = "the file that HEADGATE_TOKEN_FILE names"
    SERVER = "the token_file of the server in the user's config.toml"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a command runs."""

    environ: Mapping[str, str] = field(repr=False)
    folder: Path | None
    """The current one; None if it was deleted."""
    home: Path
    user: int | None = None
    """The id of the user whose files are trusted, besides those of root; None where there are no such ids."""

    @property
    def user_file(self) -> Path:
        """Where the user's own configuration is, if there is one."""
        configured = self.environ.get("XDG_CONFIG_HOME")
        below = Path(configured) if configured else self.home / ".config"
        return below / "headgate" / USER_FILE


@dataclass(frozen=True, slots=True)
class UserToken:
    """A token, and who gave it."""

    secret: str = field(repr=False)
    origin: TokenOrigin


@dataclass(frozen=True, slots=True)
class LakeChoice:
    """The lake that is meant."""

    place: str = field(repr=False)  # it may have a password
    origin: Origin
    file: Path | None = None
    """The file that names it, if one does."""


def current_surroundings() -> Surroundings:
    """Those of this process."""
    user = os.geteuid() if hasattr(os, "geteuid") else None
    return Surroundings(os.environ, _current_folder(), Path.home(), user)


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def choose_lake(named: str | None, around: Surroundings) -> LakeChoice:
    """The lake that is named, else the one that a file names, else the folder ``lake``."""
    choice = _choose(named, around)
    if around.folder is None and "://" not in choice.place and not Path(choice.place).is_absolute():
        raise InvalidRequest(
            "the current folder was deleted, so nothing can be found from there: change to another one, or "
            "name the lake by an absolute path with --lake"
        )
    return choice


def _choose(named: str | None, around: Surroundings) -> LakeChoice:
    variable = around.environ.get(LAKE_VARIABLE)
    if named and named != variable:
        return LakeChoice(named, Origin.NAMED)
    if variable:  # which typer hands over as if it were on the command line
        return LakeChoice(variable, Origin.VARIABLE)
    for origin, file in ((Origin.FOLDER, _folder_file(around)), (Origin.USER, around.user_file)):
        if file is None or not _is_there(file):
            continue
        place = _read(file, around, {"lake"} if origin is Origin.FOLDER else {"lake", "servers"}).get("lake")
        if place is not None:
            return LakeChoice(_place(place, file), origin, file)
    return LakeChoice(DEFAULT_PLACE, Origin.DEFAULT)


def find_token(choice: LakeChoice, around: Surroundings) -> UserToken | None:
    """The token for a lake behind a server; None if there is none for it, or if it takes none."""
    if not choice.place.startswith(("http://", "https://")):
        return None
    if choice.origin is not Origin.FOLDER:
        if secret := around.environ.get(TOKEN_VARIABLE):
            return UserToken(secret, TokenOrigin.VARIABLE)
        if named := around.environ.get(TOKEN_FILE_VARIABLE):
            return UserToken(read_token_file(Path(named).expanduser()), TokenOrigin.FILE_VARIABLE)
    path = _server_token_file(choice.place, around)
    return None if path is None else UserToken(read_token_file(path), TokenOrigin.SERVER)


def read_token_file(path: Path) -> str:
    """The token in a file that nobody else can read; ``InvalidRequest`` if others can."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(_LARGEST_TOKEN).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidRequest(f"the token file {str(path)!r} cannot be read: {exc}") from exc
    if os.name == "posix" and mode & 0o077:
        raise InvalidRequest(
            f"others can read the token file {str(path)!r}: make it its owner's alone, chmod 600, and have a "
            "new token made if others may have seen this one"
        )
    if not secret:
        raise InvalidRequest(f"the token file {str(path)!r} is empty: write the token into it")
    return secret


def _server_token_file(place: str, around: Surroundings) -> Path | None:
    file = around.user_file
    if not _is_there(file):
        return None
    servers = _read(file, around, {"lake", "servers"}).get("servers", {})
    for address, server in servers.items() if isinstance(servers, dict) else ():
        if not address.startswith(("http://", "https://")):
            raise InvalidRequest(
                f"{str(file)!r} has a server {address!r}, which is no address: write it with http:// or https://"
            )
        if _origin_of(address) != _origin_of(place):
            continue
        named = server.get("token_file") if isinstance(server, dict) else None
        if not isinstance(named, str):
            raise InvalidRequest(f'{str(file)!r} has no token_file = "…" for {address}: write one')
        return file.parent / Path(named).expanduser()
    return None


def _origin_of(address: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port: to whom a token is sent."""
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # no port, or no address
        return "", address, None


def _folder_file(around: Surroundings) -> Path | None:
    """The nearest file of a folder, from the current one up."""
    if around.folder is None:
        return None
    places = (folder / FOLDER_FILE for folder in (around.folder, *around.folder.parents))
    return next((place for place in places if _is_there(place)), None)


def _is_there(file: Path) -> bool:
    """Whether there is a file; what has its name and is none is refused, or another lake would be meant."""
    if file.is_file():
        return True
    if file.is_symlink() or file.exists():
        what = "a folder" if file.is_dir() else "a link to nothing" if file.is_symlink() else "no file"
        raise InvalidRequest(f"{str(file)!r} is {what}: put a file there, take it away, or use --lake")
    return False


def _read(file: Path, around: Surroundings, known: set[str]) -> dict[str, Any]:
    if around.user is not None and file.stat().st_uid not in (around.user, 0):
        raise InvalidRequest(
            f"{str(file)!r} belongs to another user, so it is not obeyed: name the lake with --lake, or make "
            "the file your own"
        )
    try:
        said = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidRequest(f"{str(file)!r} cannot be read: {exc}. Correct it, or use --lake") from exc
    for name in said:
        if name not in known:
            where = " (servers are in the file of the user alone)" if name == "servers" else ""
            raise InvalidRequest(
                f"{str(file)!r} sets {name!r}, which is not known there{where}: it may set "
                + " and ".join(repr(each) for each in sorted(known))
            )
    return said


def _place(place: object, file: Path) -> str:
    """A place as a file has it: a folder is seen from the file."""
    if not isinstance(place, str) or not place:
        raise InvalidRequest(f'{str(file)!r} names no lake: write lake = "a folder or an address"')
    return place if "://" in place else str(file.parent / Path(place).expanduser())
