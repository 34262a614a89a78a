"""What the defaults of a session mean for a table that is made or replaced.

A default counts as if the command had said it, unless the command says otherwise or the table cannot be
so: whom a table belongs to is no matter of defaults once it has an owner.
"""

from collections.abc import Mapping
from dataclasses import replace

from headgate.errors import InvalidRequest
from headgate.protocol import table_features
from headgate.protocol.features import coordinated_commits
from headgate.protocol.features.coordinated_commits import CURRENT, DEFAULTS, Command, Coordination
from headgate.protocol.metadata import alter_properties, table_properties
from headgate.protocol.metadata.alter_properties import Asked


def properties_of(settings: Mapping[str, str]) -> Mapping[str, str]:
    """The properties of tables that settings of a session are defaults of."""
    return {
        table_properties.PREFIX + name[len(DEFAULTS) :]: value
        for name, value in settings.items()
        if name.startswith(DEFAULTS)
    }


def over(stated: Mapping[str, str], defaults: Mapping[str, str], *, owned: bool) -> Asked:
    """What a command asks for, with the defaults that it does not contradict.

    ``owned`` says whether a catalog or a commit owner has the table: that one decides about its
    timestamps. Nothing is said here of whose it is; see ``owner``.
    """
    asked = alter_properties.parse(stated)
    unsaid = _parsed({name: value for name, value in defaults.items() if name not in CURRENT.properties})
    kept = {
        name: value
        for name, value in unsaid.configuration.items()
        if not (owned and name in table_properties.STAMPS)
    }
    return replace(
        asked,
        configuration={**kept, **asked.configuration},
        features=asked.features | (unsaid.features - {table_features.CATALOG_MANAGED}),
        writer=asked.writer or unsaid.writer,
    )


def owner(stated: Mapping[str, str], defaults: Mapping[str, str]) -> tuple[str, Mapping[str, str]] | None:
    """The commit owner, and its conf, that defaults name for a new table which names none itself."""
    coordinated_commits.check_set(None, stated, Command.CREATE, defaults=defaults)
    if coordinated_commits.PROPERTIES & stated.keys() or CURRENT.owner not in defaults:
        return None
    found = Coordination(CURRENT, defaults[CURRENT.owner], defaults[CURRENT.conf], None)
    return found.owner, found.conf


def _parsed(defaults: Mapping[str, str]) -> Asked:
    try:
        return alter_properties.parse(defaults)
    except InvalidRequest as exc:
        raise InvalidRequest(
            f"a default of the session for new tables, {DEFAULTS}…, cannot be followed: {exc.message}; or "
            "unset it in the session",
            code=exc.code,
        ) from exc
