"""What the defaults of a session mean for a table that is made or replaced.

A default counts as if the command had said it, unless the command says otherwise or the table cannot be
so: whom a table belongs to is no matter of defaults once it has a coordinator.
"""

from collections.abc import Mapping
from dataclasses import replace

from headgate.errors import InvalidRequest
from headgate.protocol import table_features
from headgate.protocol.features import coordinated_commits, coordinator_properties
from headgate.protocol.features.coordinated_commits import (
    CURRENT,
    SESSION_DEFAULT_PREFIX,
    CoordinatorReference,
)
from headgate.protocol.features.coordinator_properties import PropertyCommand
from headgate.protocol.metadata import alter_properties, table_properties
from headgate.protocol.metadata.alter_properties import PropertyChanges


def default_properties(settings: Mapping[str, str]) -> Mapping[str, str]:
    """The properties of tables that settings of a session are defaults of."""
    return {
        table_properties.PREFIX + name[len(SESSION_DEFAULT_PREFIX) :]: value
        for name, value in settings.items()
        if name.startswith(SESSION_DEFAULT_PREFIX)
    }


def with_session_defaults(
    stated: Mapping[str, str], defaults: Mapping[str, str], *, owned: bool
) -> PropertyChanges:
    """What a command asks for, with the defaults that it does not contradict.

    ``owned`` says whether a catalog or a coordinator has the table: that one decides about its
    timestamps. Nothing is said here of whose it is; see ``owner``.
    """
    asked = alter_properties.parse(stated)
    unsaid = _parse_defaults(
        {name: value for name, value in defaults.items() if name not in CURRENT.properties}
    )
    kept = {
        name: value
        for name, value in unsaid.configuration.items()
        if not (owned and name in table_properties.TIMESTAMP_PROPERTIES)
    }
    return replace(
        asked,
        configuration={**kept, **asked.configuration},
        features=asked.features | (unsaid.features - {table_features.CATALOG_MANAGED}),
        writer=asked.writer or unsaid.writer,
    )


def default_coordinator(
    stated: Mapping[str, str], defaults: Mapping[str, str]
) -> tuple[str, Mapping[str, str]] | None:
    """The coordinator, and its conf, that defaults name for a new table which names none itself."""
    coordinator_properties.check_set_properties(None, stated, PropertyCommand.CREATE, defaults=defaults)
    if coordinated_commits.PROPERTIES & stated.keys() or CURRENT.coordinator not in defaults:
        return None
    found = CoordinatorReference(CURRENT, defaults[CURRENT.coordinator], defaults[CURRENT.conf], None)
    return found.name, found.conf


def _parse_defaults(defaults: Mapping[str, str]) -> PropertyChanges:
    try:
        return alter_properties.parse(defaults)
    except InvalidRequest as exc:
        raise InvalidRequest(
            f"a default of the session for new tables, {SESSION_DEFAULT_PREFIX}…, cannot be followed: "
            f"{exc.message}; or unset it in the session",
            code=exc.code,
        ) from exc
