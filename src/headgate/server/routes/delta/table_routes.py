"""One table: load, look whether it is there, update, drop, rename; and what clients measured of it."""

from typing import Annotated

from litestar import delete, get, head, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter, SkipValidation

from headgate.catalog.ports.directory import TableName
from headgate.catalog.wire.delta_api import (
    CreateTableRequest,
    MetricsRequest,
    RenameRequest,
    StagingAnswer,
    StagingRequest,
    TableAnswer,
    UpdateTableRequest,
)
from headgate.errors import InvalidRequest
from headgate.server.routes.delta import creation, updating, visible_table
from headgate.server.routes.delta.session import DeltaSession, decode_segment, table_name

_SCHEMA = "/catalogs/{catalog:str}/schemas/{schema:str}"
TABLE = _SCHEMA + "/tables/{table:str}"
AcceptInline = Annotated[
    bool,
    QueryParameter(
        name="inline-commits",
        description="Extension: whether the caller can read commits that are in the answer, and in no file.",
    ),
]


@post(_SCHEMA + "/staging-tables", status_code=200, sync_to_thread=True)
def create_staging_table(
    session: NamedDependency[SkipValidation[DeltaSession]],
    schema: FromPath[str],
    data: JSONBody[StagingRequest],
) -> StagingAnswer:
    """Reserve a place for a table."""
    return creation.stage_table(session, TableName(decode_segment(schema), data.name))


@post(_SCHEMA + "/tables", status_code=200, sync_to_thread=True)
def create_table(
    session: NamedDependency[SkipValidation[DeltaSession]],
    schema: FromPath[str],
    data: JSONBody[CreateTableRequest],
) -> TableAnswer:
    """Name a table whose version 0 is written."""
    return creation.create_table(session, decode_segment(schema), data)


@get(TABLE, status_code=200, sync_to_thread=True)
def load_table(
    session: NamedDependency[SkipValidation[DeltaSession]],
    schema: FromPath[str],
    table: FromPath[str],
    inline_commits: AcceptInline = False,
) -> TableAnswer:
    """The table as it is now."""
    return visible_table.load_answer(
        session, table_name(schema, table), inline=inline_commits and not session.settings.strict
    )


@head(TABLE, status_code=204, sync_to_thread=True)
def table_exists(
    session: NamedDependency[SkipValidation[DeltaSession]], schema: FromPath[str], table: FromPath[str]
) -> None:
    """Whether there is such a table."""
    session.catalog.resolve(table_name(schema, table))


@post(TABLE, status_code=200, sync_to_thread=True)
def update_table(
    session: NamedDependency[SkipValidation[DeltaSession]],
    schema: FromPath[str],
    table: FromPath[str],
    data: JSONBody[UpdateTableRequest],
    inline_commits: AcceptInline = False,
) -> TableAnswer:
    """Ratify a commit, and hear what was published."""
    inline = inline_commits and not session.settings.strict
    return updating.update_table(session, table_name(schema, table), data, inline=inline)


@delete(TABLE, status_code=204, sync_to_thread=True)
def delete_table(
    session: NamedDependency[SkipValidation[DeltaSession]], schema: FromPath[str], table: FromPath[str]
) -> None:
    """Drop the table; log and data stay, and it can be had back."""
    session.catalog.drop(table_name(schema, table))


@post(TABLE + "/rename", status_code=204, sync_to_thread=True)
def rename_table(
    session: NamedDependency[SkipValidation[DeltaSession]],
    schema: FromPath[str],
    table: FromPath[str],
    data: JSONBody[RenameRequest],
) -> None:
    """Give the table another name in its schema."""
    session.catalog.rename(table_name(schema, table), TableName(decode_segment(schema), data.new_name))


@post(TABLE + "/metrics", status_code=204, sync_to_thread=True)
def report_metrics(
    session: NamedDependency[SkipValidation[DeltaSession]],
    schema: FromPath[str],
    table: FromPath[str],
    data: JSONBody[MetricsRequest],
) -> None:
    """Hear what a client measured of its commit."""
    entry = session.catalog.resolve(table_name(schema, table))
    if data.table_id.lower() != entry.table_id.lower():
        raise InvalidRequest(
            f"{entry.name} is the table {entry.table_id}, and the report is of {data.table_id}"
        )
    histogram = data.report and data.report.commit_report and data.report.commit_report.file_size_histogram
    if histogram and not (
        len(histogram.sorted_bin_boundaries) == len(histogram.file_counts) == len(histogram.total_bytes)
    ):
        raise InvalidRequest("a histogram has a count and a sum for each of its bins")
    session.record_metrics(entry, data.report)
