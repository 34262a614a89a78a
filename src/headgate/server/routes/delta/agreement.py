"""Does what a client says of a table agree with its log? The log is the truth; a contradiction is refused.

An update names the properties, columns or protocol that its commit brings. They are compared with the table
as the commit leaves it, and never written down: so nobody can make a catalog say what the log does not. An
update that changes metadata without a commit is refused for the same reason, unless all it says is so
already.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from headgate.catalog.ports.commits import TableState
from headgate.catalog.wire import delta_columns
from headgate.catalog.wire.delta_api import (
    UUID_PROPERTY,
    CreateTableRequest,
    DomainsBody,
    ProtocolBody,
    RemoveDomainMetadata,
    RemoveProperties,
    SetColumns,
    SetDomainMetadata,
    SetPartitionColumns,
    SetProperties,
    SetProtocol,
    SetTableComment,
    Updates,
)
from headgate.catalog.wire.derived_properties import is_derived
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Commit, Protocol
from headgate.protocol.domains import rules
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import DataType, Field, Struct, with_structs
from headgate.server.routes.delta import description


def state_after(before: TableState, commit: Commit) -> TableState:
    """What the table is once this commit is made."""
    changes = commit.protocol or commit.metadata or commit.domains or commit.txns
    return replace(
        before,
        protocol=commit.protocol or before.protocol,
        metadata=commit.metadata or before.metadata,
        domains=None
        if before.domains is None
        else rules.apply_domain_actions(before.domains, commit.domains),
        since=commit.version if changes else before.since,
    )


def check_updates_match(said: Iterable[Updates], after: TableState, *, committed: bool) -> None:
    """Refuse updates that the table, as it is then, contradicts."""
    for update in said:
        if why := _contradiction(update, after):
            raise InvalidRequest(
                f"{why}; nothing was changed: "
                + (
                    "what an update says must be what its commit does"
                    if committed
                    else "the metadata of a managed table is what its log says, so stage a commit that "
                    "changes it and send that as add-commit in the same request"
                )
            )


def check_declared(request: CreateTableRequest, table_id: str, first: TableState) -> None:
    """Refuse to make a table that is not what its version 0 says."""
    said: list[Updates] = [
        SetProtocol(protocol=request.protocol),
        SetColumns(columns=request.columns),
        SetProperties(updates=request.properties),
    ]
    if request.partition_columns is not None:
        said.append(SetPartitionColumns(partition_columns=request.partition_columns))
    if request.comment is not None:
        said.append(SetTableComment(comment=request.comment))
    if request.domain_metadata is not None:
        said.append(SetDomainMetadata(updates=request.domain_metadata))
    found = first.metadata.configuration.get(UUID_PROPERTY, table_id)
    if found != table_id:
        raise InvalidRequest(f"{UUID_PROPERTY} of version 0 is {found}, and the table is {table_id}")
    for update in said:
        if why := _contradiction(update, first):
            raise InvalidRequest(f"{why}; no table was made: what is declared must be what version 0 says")


def _contradiction(update: Updates, after: TableState) -> str | None:
    metadata = after.metadata
    match update:
        case SetProperties(updates=wanted):
            return _property_problem(wanted.items(), after)
        case RemoveProperties(removals=names):
            left = [name for name in names if name in metadata.configuration]
            return f"the property {left[0]!r} is still there" if left else None
        case SetProtocol(protocol=protocol):
            return None if _protocol(protocol) == after.protocol else "the protocol is another one in the log"
        case SetColumns(columns=columns):
            same = _bare(delta_columns.columns_from_wire(columns)) == _bare(
                schema_json.parse(metadata.schema_string)
            )
            return None if same else "the columns are others in the log"
        case SetPartitionColumns(partition_columns=names):
            same = _lower(names) == _lower(metadata.partition_columns)
            return None if same else "the partition columns are others in the log"
        case SetTableComment(comment=comment):
            same = (comment or "") == (metadata.description or "")
            return None if same else "the comment is another one in the log"
        case SetDomainMetadata(updates=domains):
            return _domain_problem(domains, after)
        case RemoveDomainMetadata(domains=names):
            left = [name for name in names if name in (after.domains or {})]
            return f"the metadata domain {left[0]!r} is still there" if left else None
        case _:
            return None


def _property_problem(wanted: Iterable[tuple[str, str]], after: TableState) -> str | None:
    known = after.metadata.configuration
    for name, value in wanted:
        if name != UUID_PROPERTY and not is_derived(name) and known.get(name) != value:
            return f"the property {name!r} is {known.get(name)!r} in the log, and not {value!r}"
    return None


def _domain_problem(said: DomainsBody, after: TableState) -> str | None:
    if after.domains is None:
        return None
    columns = description.clustering_columns(after.domains)
    if said.clustering is not None and said.clustering.clustering_columns != columns:
        return "the clustering columns are others in the log"
    mark = description.row_id_high_water_mark(after.domains)
    if said.row_tracking is not None and said.row_tracking.row_id_high_water_mark != mark:
        return f"the mark of row ids is {mark} in the log"
    return None


def _protocol(body: ProtocolBody) -> Protocol:
    return Protocol(
        min_reader_version=body.min_reader_version,
        min_writer_version=body.min_writer_version,
        reader_features=body.reader_features,
        writer_features=body.writer_features,
    )


def _bare(schema: DataType) -> DataType:
    """The columns without their metadata, which clients spell in ways of their own."""
    return with_structs(schema, _without_metadata)


def _without_metadata(struct: Struct) -> Struct:
    return Struct(tuple(Field(part.name, _bare(part.type), part.nullable) for part in struct.fields))


def _lower(names: Sequence[str]) -> list[str]:
    return [name.lower() for name in names]
