"""Which properties about a coordinator may a command set, unset, keep or copy? What each rule refuses.

``ALTER TABLE t SET TBLPROPERTIES`` on a table that is coordinated already, with another coordinator's name,
is refused by the first of the rules:

    DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS, "the table keeps what it has; release it with …"
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from headgate.errors import InvalidRequest
from headgate.protocol.features.coordinated_commits import FEATURE_NAMINGS, PROPERTIES
from headgate.protocol.log import in_commit_timestamps
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION


class PropertyCommand(Enum):
    """What a user does with a table's properties."""

    CREATE = "CREATE"
    REPLACE = "REPLACE"
    ALTER = "ALTER"
    CLONE = "CLONE"
    """A new table from another one; over an existing one it is a REPLACE."""

    @property
    def makes_a_table(self) -> bool:
        return self in (PropertyCommand.CREATE, PropertyCommand.CLONE)


@dataclass(frozen=True, slots=True)
class _Request:
    existing: Mapping[str, str]
    changes: Mapping[str, str]
    command: PropertyCommand
    of_session: bool = False

    @property
    def is_coordinated(self) -> bool:
        return any(naming.coordinator in self.existing for naming in FEATURE_NAMINGS)

    @property
    def ours(self) -> frozenset[str]:
        return frozenset(self.changes) & PROPERTIES


@dataclass(frozen=True, slots=True)
class PropertyRule:
    """One row: which keys of a request break it, the code, and what to do instead."""

    name: str
    offending: Callable[[_Request], frozenset[str]]
    code: str
    advice: str
    session_code: str | None = None
    """The code where the properties are defaults of the session."""


def _settings_of_a_table_that_exists(request: _Request) -> frozenset[str]:
    taken_already = request.command is PropertyCommand.REPLACE or request.is_coordinated
    return request.ours if taken_already else frozenset()


def _timestamps_together_with_an_owner(request: _Request) -> frozenset[str]:
    if request.command is not PropertyCommand.ALTER or not request.ours:
        return frozenset()
    return frozenset(request.changes) & in_commit_timestamps.PROPERTIES


def _timestamps_under_an_owner(request: _Request) -> frozenset[str]:
    if request.command is not PropertyCommand.ALTER or not request.is_coordinated:
        return frozenset()
    return frozenset(request.changes) & in_commit_timestamps.PROPERTIES


def _table_settings(request: _Request) -> frozenset[str]:
    return request.ours & frozenset(naming.table_conf for naming in FEATURE_NAMINGS)


def _one_without_the_other(request: _Request) -> frozenset[str]:
    return frozenset(
        missing
        for naming in FEATURE_NAMINGS
        if len(given := request.ours & {naming.coordinator, naming.conf}) == 1
        for missing in {naming.coordinator, naming.conf} - given
    )


SET_RULES: tuple[PropertyRule, ...] = (
    PropertyRule(
        "coordinator-of-an-existing-table", _settings_of_a_table_that_exists,
        "DELTA_CANNOT_OVERRIDE_COORDINATED_COMMITS_CONFS",
        "the table keeps what it has; release it with table.uncoordinate() to change it",
    ),
    PropertyRule(
        "timestamps-with-coordinator", _timestamps_together_with_an_owner,
        "DELTA_CANNOT_SET_COORDINATED_COMMITS_DEPENDENCIES",
        "leave them out: they come with the coordinator",
    ),
    PropertyRule(
        "timestamps-of-a-coordinated-table", _timestamps_under_an_owner,
        "DELTA_CANNOT_MODIFY_COORDINATED_COMMITS_DEPENDENCIES",
        "the coordinator needs them as they are",
    ),
    PropertyRule(
        "table-conf", _table_settings, "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_COMMAND",
        "only the coordinator says what it is", "DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_SESSION",
    ),
    PropertyRule(
        "name-and-conf", _one_without_the_other, "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_COMMAND",
        "give the name and the conf together", "DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_SESSION",
    ),
)  # fmt: skip
"""What may be set, by whoever creates, replaces or alters a table; the first row that objects decides."""


def _coordinator_unset(request: _Request) -> frozenset[str]:
    return request.ours if request.is_coordinated else frozenset()


UNSET_RULES: tuple[PropertyRule, ...] = (
    PropertyRule(
        "coordinator-unset", _coordinator_unset, "DELTA_CANNOT_UNSET_COORDINATED_COMMITS_CONFS",
        "release the table with table.uncoordinate()",
    ),
    PropertyRule(
        "timestamps-unset", _timestamps_under_an_owner,
        "DELTA_CANNOT_MODIFY_COORDINATED_COMMITS_DEPENDENCIES", "the coordinator needs them as they are",
    ),
)  # fmt: skip
"""What may be unset; on a table without a coordinator anything may."""


def check_set_properties(
    existing: Mapping[str, str] | None,
    changes: Mapping[str, str],
    command: PropertyCommand,
    *,
    defaults: Mapping[str, str] | None = None,
) -> None:
    """Refuse properties about a coordinator, or about what it needs, that a command must not set.

    ``existing`` are the properties of the table, None if there is none; ``defaults`` are those of the
    session, by the names of properties, which count only for a new table and only if the command
    itself says nothing of a coordinator.
    """
    effective = (
        PropertyCommand.REPLACE if existing is not None and command is PropertyCommand.CLONE else command
    )
    request = _Request(existing or {}, changes, effective)
    _apply(SET_RULES, request)
    if effective.makes_a_table and not request.ours:
        _apply(SET_RULES, _Request({}, defaults or {}, effective, of_session=True))


def check_unset_properties(existing: Mapping[str, str], keys: frozenset[str]) -> None:
    """Refuse to unset what a coordinated table needs."""
    _apply(UNSET_RULES, _Request(existing, dict.fromkeys(keys, ""), PropertyCommand.ALTER))


def properties_kept_on_replace(existing: Mapping[str, str]) -> Mapping[str, str]:
    """The properties that a REPLACE of a coordinated table keeps, whatever it says."""
    if not any(naming.coordinator in existing for naming in FEATURE_NAMINGS):
        return {}
    kept = PROPERTIES | in_commit_timestamps.PROPERTIES
    return {key: value for key, value in existing.items() if key in kept}


def properties_copied_by_clone(source: Mapping[str, str]) -> Mapping[str, str]:
    """The properties that CREATE LIKE and CLONE take from their source: nothing of whom it belongs to."""
    left = PROPERTIES | {ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP}
    return {key: value for key, value in source.items() if key not in left}


def _apply(rules: tuple[PropertyRule, ...], request: _Request) -> None:
    for rule in rules:
        if keys := rule.offending(request):
            code = rule.session_code if request.of_session else None
            told = ", ".join(sorted(keys))
            where = "the session's defaults" if request.of_session else "this command"
            raise InvalidRequest(
                f"{request.command.value}: {where} cannot be carried out because of {told}; {rule.advice}",
                code=code or rule.code, rule=rule.name, properties=tuple(sorted(keys)),
            )  # fmt: skip
