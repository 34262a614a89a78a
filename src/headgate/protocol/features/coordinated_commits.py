"""Tables whose commits a coordinator decides: how their metadata names it, and what a commit may change.

Coordinator is the word of the properties, the name that the feature ended with; the seeds say commit owner.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec

from headgate import redaction
from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.protocol import property_values, protocol_upgrade
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.log import file_names, in_commit_timestamps

VACUUM_CHECK = "vacuumProtocolCheck"
REQUIRED_FEATURES = ("inCommitTimestamp", VACUUM_CHECK)
SESSION_DEFAULT_PREFIX = "spark.databricks.delta.properties.defaults."
"""What a session's default of a property is called: this, and the property without its ``delta.``."""


@dataclass(frozen=True, slots=True)
class FeatureNaming:
    """One row: how the feature, its three properties and the folder of staged commits are called."""

    feature: str
    coordinator: str
    conf: str
    table_conf: str
    staged: str

    @property
    def properties(self) -> tuple[str, str, str]:
        return self.coordinator, self.conf, self.table_conf


def _feature_naming(feature: str, family: str, role: str, suffix: str, staged: str) -> FeatureNaming:
    prefix = f"delta.{family}."
    return FeatureNaming(
        feature,
        f"{prefix}{role}{suffix}",
        f"{prefix}{role}Conf{suffix}",
        f"{prefix}tableConf{suffix}",
        staged,
    )


FEATURE_NAMINGS: tuple[FeatureNaming, ...] = (
    _feature_naming(
        "coordinatedCommits-preview",
        "coordinatedCommits",
        "commitCoordinator",
        "-preview",
        file_names.STAGED_FOLDER,
    ),
    _feature_naming(
        "coordinatedCommits", "coordinatedCommits", "commitCoordinator", "", file_names.STAGED_FOLDER
    ),
    _feature_naming(
        "managedCommit-preview", "managedCommit", "commitOwner", "-preview", file_names.LEGACY_STAGED_FOLDER
    ),
    _feature_naming(
        "managed-commit-preview", "managedCommits", "commitOwner", "-preview", file_names.LEGACY_STAGED_FOLDER
    ),
    _feature_naming(
        "managed-commit-dev", "managedCommits", "commitOwner", "-dev", file_names.LEGACY_STAGED_FOLDER
    ),
    _feature_naming("managedCommit", "managedCommit", "commitOwner", "", file_names.LEGACY_STAGED_FOLDER),
)
"""The names over time, newest first; new tables get the first."""
CURRENT = FEATURE_NAMINGS[0]
FEATURES = frozenset(naming.feature for naming in FEATURE_NAMINGS)
COMMIT_FEATURES = FEATURES | {VACUUM_CHECK}
"""What says how commits come about, and which no action of a commit can use."""
KEEP_VACUUM_CHECK = "headgate.uncoordinate.keepVacuumProtocolCheck"
"""Says that a table had ``vacuumProtocolCheck`` before it was given away, so that it stays (E7)."""
PROPERTIES = frozenset({KEEP_VACUUM_CHECK, *(key for naming in FEATURE_NAMINGS for key in naming.properties)})


@dataclass(frozen=True, slots=True)
class CoordinatorReference:
    """Who decides a table's commits, as its metadata has it."""

    naming: FeatureNaming
    name: str
    conf_text: str
    table_conf_text: str | None

    @property
    def conf(self) -> Mapping[str, str]:
        """How to reach the coordinator."""
        return _parsed(self.conf_text, self.naming.conf)

    @property
    def table_conf(self) -> Mapping[str, str]:
        """What the coordinator said when the table was registered, to be told to it again at every call."""
        return _parsed(self.table_conf_text or "{}", self.naming.table_conf)


def coordinator_of(metadata: Metadata) -> CoordinatorReference | None:
    """Who decides the commits of a table, None if nobody but the file system does."""
    found = metadata.configuration
    for naming in FEATURE_NAMINGS:
        if (name := found.get(naming.coordinator)) is not None:
            return CoordinatorReference(
                naming, name, found.get(naming.conf, "{}"), found.get(naming.table_conf)
            )
    return None


def _parsed(text: str, key: str) -> Mapping[str, str]:
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except msgspec.DecodeError as exc:
        raise InvalidRequest(
            f"the property {key} must be a JSON object of strings, and {text!r} is not ({exc}): correct it",
            code="DELTA_ILLEGAL_OPTION", property=key,
        ) from exc  # fmt: skip


def unreachable_coordinator_error(
    found: CoordinatorReference, operation: str, *, because: str = ""
) -> UnsupportedFeature:
    """The refusal to write past a coordinator that cannot be asked."""
    why = f" ({because})" if because else ""
    return UnsupportedFeature(
        f"the commits of the table are decided by the coordinator {found.name!r} "
        f"({found.naming.coordinator}), which is not registered here, so {operation} is refused{why}: "
        f"register it with headgate.coordinators.register({found.name!r}, …), or use an engine that knows "
        "it; reading works, and gives what is published",
        code="DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR",
        features=(found.naming.feature,), operation=operation, coordinator=found.name,
    )  # fmt: skip


def check_no_credentials(conf: Mapping[str, str]) -> None:
    """Refuse the conf of a coordinator, or what the coordinator says of a table, if it holds a credential."""
    if found := redaction.first_credential(conf):
        raise InvalidRequest(
            f"{found[0]!r} in the conf of a coordinator must not be in a table's log, which every reader "
            f"of the table reads: {found[1]}; give it to the function that builds the coordinator, "
            "headgate.coordinators.register(name, …), in every process that writes to the table",
            code="HEADGATE_SECRET_IN_LOG", property=found[0],
        )  # fmt: skip


def with_coordinator(
    metadata: Metadata, protocol: Protocol, owner: str, conf: Mapping[str, str], table_conf: Mapping[str, str]
) -> tuple[Protocol, Metadata]:
    """The protocol and metadata of the commit that gives a table to a coordinator."""
    check_no_credentials({**conf, **table_conf})
    said = {
        CURRENT.coordinator: owner,
        CURRENT.conf: _rendered(conf),
        CURRENT.table_conf: _rendered(table_conf),
        property_values.IN_COMMIT_TIMESTAMPS: "true",
    }
    if protocol.has(VACUUM_CHECK):
        said[KEEP_VACUUM_CHECK] = "true"
    configuration = {**metadata.configuration, **said}
    return (
        protocol_upgrade.with_features(protocol, (CURRENT.feature, *REQUIRED_FEATURES)),
        msgspec.structs.replace(metadata, configuration=configuration),
    )


def _rendered(values: Mapping[str, str]) -> str:
    return msgspec.json.encode(dict(sorted(values.items()))).decode()


def without_coordinator(metadata: Metadata, protocol: Protocol) -> tuple[Protocol, Metadata]:
    """The protocol and metadata of the commit that takes a table from its coordinator, in their weakest form.

    Readers need the check of vacuums only where a coordinator depends on it, and some do not know it: it
    goes, unless the table had it before.
    """
    gone = set(leftover_features(protocol))
    if KEEP_VACUUM_CHECK not in metadata.configuration:
        gone.add(VACUUM_CHECK)
    for feature in gone:
        protocol = protocol_upgrade.without_feature(protocol, feature)
    kept = {key: value for key, value in metadata.configuration.items() if key not in PROPERTIES}
    return protocol, msgspec.structs.replace(metadata, configuration=kept)


def leftover_features(protocol: Protocol) -> tuple[str, ...]:
    """The features of this kind that a protocol names, whether or not a coordinator is named too."""
    return tuple(naming.feature for naming in FEATURE_NAMINGS if protocol.has(naming.feature))


def check_added_features(asked: Collection[str], protocol: Protocol | None = None) -> None:
    """Refuse to add such a feature by its name: a table without a coordinator would be invalid."""
    there = () if protocol is None else leftover_features(protocol)
    if new := sorted(FEATURES.intersection(asked).difference(there)):
        raise InvalidRequest(
            f"the feature {new[0]} says that a coordinator decides the table's commits, and a table that "
            "names it and no coordinator is invalid: give the table to a coordinator, which adds the "
            "feature, with table.coordinate(name, conf), or when it is made with headgate.at_path(…, "
            "owner=(name, conf))",
            code="DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH", features=tuple(new),
        )  # fmt: skip


def metadata_change_breach(before: Metadata, after: Metadata) -> str | None:
    """Why no commit may lead from one metadata to the other; None if one may."""
    was, is_now = coordinator_of(before), coordinator_of(after)
    if is_now is None or is_now == was:
        return None
    if was is not None:
        return (
            f"the table's commits are decided by {was.name!r}, and going over to {is_now.name!r} or to "
            "other settings of it is only possible by way of the file system: release the table first"
        )
    _ = is_now.conf, is_now.table_conf  # what cannot be understood is refused by name
    if is_now.table_conf_text is None:
        return f"{is_now.name!r} was never asked to own the table: use table.coordinate({is_now.name!r}, …)"
    return None


def feature_breach(metadata: Metadata, protocol: Protocol) -> str | None:
    """Why a table that names a coordinator is not well-formed; None if it is, or names none."""
    found = coordinator_of(metadata)
    if found is not None and protocol.is_catalog_managed:
        return f"a catalog manages it, and its properties name the coordinator {found.name!r} too"
    if found is None or protocol.has(found.naming.feature):
        return None
    return (
        f"its properties name the coordinator {found.name!r} ({found.naming.coordinator}), and its protocol "
        f"does not name {found.naming.feature}"
    )


def coordinator_breach(metadata: Metadata, protocol: Protocol) -> str | None:
    """Why a table that has the feature is not well-formed; None if it is, or does not have it."""
    leftover = leftover_features(protocol)
    if not leftover or coordinator_of(metadata) is not None:
        return None
    return f"its protocol names {', '.join(leftover)}, and its properties name no coordinator"


def timestamps_breach(before: Metadata, after: Metadata) -> str | None:
    """Why a table with a coordinator may not be without in-commit timestamps; None if it is not."""
    found = coordinator_of(after) or coordinator_of(before)
    if found is None or in_commit_timestamps.has_in_commit_timestamps(after):
        return None
    return f"the commits of a table that {found.name!r} decides must have in-commit timestamps"
