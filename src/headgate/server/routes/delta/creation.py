"""How is a table made? A place is reserved, the client writes version 0 there, and then it gets its name.

What version 0 must say is what our catalog needs, and no more; the rest of what Unity Catalog wants is only
suggested. Each step may come twice: a second place harms nobody, and a table that has its name keeps it.
"""

import posixpath

from headgate.catalog.ports.commits import TableId, TableState
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.wire.delta_api import (
    MANAGED,
    UUID_PROPERTY,
    CreateTableRequest,
    ProtocolBody,
    StagingAnswer,
    SuggestedProtocol,
    TableAnswer,
)
from headgate.errors import CorruptLog, HeadgateError, InvalidRequest, TableNotFound, UnsupportedFeature
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.server.credentials import to_wire, vend_for_staging
from headgate.server.routes.delta import agreement, proposals, visible_table
from headgate.server.routes.delta.session import DeltaSession
from headgate.storage import location_spelling, make_folder
from headgate.storage.locate import locate
from headgate.storage.location_spelling import location_url

_READ_TOO = (table_features.CATALOG_MANAGED, table_features.VACUUM_PROTOCOL_CHECK)
REQUIRED_PROTOCOL = ProtocolBody(
    min_reader_version=table_features.MAX_READER_VERSION,
    min_writer_version=table_features.MAX_WRITER_VERSION,
    reader_features=_READ_TOO,
    writer_features=(*_READ_TOO, table_features.IN_COMMIT_TIMESTAMP),
)
SUGGESTED_PROTOCOL = SuggestedProtocol(
    reader_features=("deletionVectors", "v2Checkpoint"),
    writer_features=("deletionVectors", "domainMetadata", "rowTracking", "v2Checkpoint"),
)
SUGGESTED_PROPERTIES: dict[str, str | None] = {
    "delta.checkpointPolicy": "v2",
    "delta.enableDeletionVectors": "true",
    "delta.checkpoint.writeStatsAsJson": "true",
    "delta.checkpoint.writeStatsAsStruct": "true",
}


def stage_table(session: DeltaSession, name: TableName) -> StagingAnswer:
    """Reserve a place for a table of that name; somebody else may be quicker to have the name."""
    staging = session.catalog.stage(name)
    make_folder.make_folder(staging.location, file_names.STAGED_FOLDER)
    vended = vend_for_staging(session.credentials, session.catalog, staging.table_id, staging.location)
    return StagingAnswer(
        table_id=staging.table_id,
        table_type=MANAGED,
        location=location_url(staging.location),
        storage_credentials=tuple(map(to_wire, vended)),
        required_protocol=REQUIRED_PROTOCOL,
        suggested_protocol=SUGGESTED_PROTOCOL,
        required_properties={
            property_values.IN_COMMIT_TIMESTAMPS: "true",
            UUID_PROPERTY: staging.table_id,
        },
        suggested_properties=SUGGESTED_PROPERTIES,
    )


def create_table(session: DeltaSession, schema: str, request: CreateTableRequest) -> TableAnswer:
    """Give a staged table its name, if its version 0 is what the request says; again, if it has it."""
    if request.table_type != MANAGED:
        raise UnsupportedFeature(
            f"a table of the type {request.table_type} cannot be made here: stage a MANAGED one"
        )
    if request.uniform is not None:
        raise UnsupportedFeature("this server keeps no Iceberg metadata: leave out uniform")
    name = TableName(schema, request.name)
    table_id = TableId(posixpath.basename(location_spelling.comparable(request.location)))
    if not _is_made(session, name, table_id):
        staging = _find_staging(session, table_id, request.location)
        agreement.check_declared(request, table_id, _first_state(staging))
        session.catalog.register(staging, name)
    return visible_table.load_answer(session, name, inline=False)


def _is_made(session: DeltaSession, name: TableName, table_id: TableId) -> bool:
    """Whether this request was carried out before: the name is that of this very table."""
    try:
        return session.catalog.resolve(name).table_id == table_id
    except TableNotFound:
        return False


def _find_staging(session: DeltaSession, table_id: TableId, location: str) -> StagingTable:
    try:
        staging = session.catalog.find_staging(table_id)
    except TableNotFound as exc:
        if _is_live(session, table_id):
            raise InvalidRequest(
                f"the place {location} is that of a table that has a name already: reserve another one"
            ) from exc
        raise
    wanted, found = map(location_spelling.comparable, (location, staging.location))
    if wanted != found:
        raise TableNotFound(f"nothing is staged at {location}: make the table anew", name=table_id)
    return staging


def _is_live(session: DeltaSession, table_id: TableId) -> bool:
    try:
        session.catalog.tail(table_id)
    except HeadgateError:
        return False
    return True


def _first_state(staging: StagingTable) -> TableState:
    zero = Version(0)
    content = proposals.read_log_file(
        locate(staging.location), file_names.published_path(zero), "version 0 of the table,"
    )
    try:
        first = codec.decode_without_files(zero, content)
    except CorruptLog as exc:
        raise InvalidRequest(f"version 0 cannot be read: {exc.message}") from exc
    if first.protocol is None or first.metadata is None:
        raise InvalidRequest("version 0 must have a protocol and a metaData")
    domains = {action.domain: action for action in first.domains if not action.removed}
    return TableState(first.protocol, first.metadata, domains)
