"""Schemas: listed, made and dropped. They have a name and nothing else, and go only when they are empty."""

from litestar import Response, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody

from headgate.catalog.ports.directory import checked_name
from headgate.catalog.wire.unity_api import CreateUnitySchema, UnitySchema, UnitySchemas
from headgate.errors import InvalidRequest, SchemaExists, SchemaNotFound
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.routes.unity.catalogs import stable_id
from headgate.server.routes.unity.names import find_schema
from headgate.server.routes.unity.paging import take_page


def _shown(lake: ServedLake, schema: str) -> UnitySchema:
    return UnitySchema(
        name=schema,
        catalog_name=lake.name,
        full_name=f"{lake.name}.{schema}",
        schema_id=stable_id(lake.catalog.warehouse, schema),
    )


def require_schema(lake: ServedLake, caller: Caller, schema: str) -> str:
    """The name of a schema as it is kept, if the caller may know of it; else ``SchemaNotFound``."""
    name = checked_name(schema)
    if name not in lake.catalog_for(caller.principal).schemas():
        raise SchemaNotFound(f"there is no schema {lake.name}.{name}: make it first", name=name)
    return name


@get("/schemas", status_code=200, sync_to_thread=True)
def list_schemas(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    catalog_name: FromQuery[str],
    max_results: FromQuery[int | None] = None,
    page_token: FromQuery[str | None] = None,
) -> UnitySchemas:
    """The schemas of a lake."""
    lake = lakes.find(catalog_name)
    names = lake.catalog_for(caller.principal).schemas()
    page, token = take_page(names, str, max_results=max_results, page_token=page_token)
    return UnitySchemas(schemas=tuple(_shown(lake, name) for name in page), next_page_token=token)


@post("/schemas", status_code=200, sync_to_thread=True)
def create_schema(
    caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes], data: JSONBody[CreateUnitySchema]
) -> UnitySchema:
    """Make a schema; clients tell by the error that it was there already."""
    lake, name = lakes.find(data.catalog_name), checked_name(data.name)
    if not lake.catalog_for(caller.principal).create_schema(name):
        raise SchemaExists(f"the schema {lake.name}.{name} exists already", name=name)
    return _shown(lake, name)


@get("/schemas/{full_name:str}", status_code=200, sync_to_thread=True)
def get_schema(
    caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes], full_name: FromPath[str]
) -> UnitySchema:
    """One schema."""
    lake, schema = find_schema(lakes, full_name)
    return _shown(lake, require_schema(lake, caller, schema))


@patch("/schemas/{full_name:str}", status_code=200, sync_to_thread=True)
def update_schema(
    caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes], full_name: FromPath[str]
) -> None:
    """Refused: there is nothing to change."""
    lake, schema = find_schema(lakes, full_name)
    require_schema(lake, caller, schema)
    raise InvalidRequest(
        "a schema has neither comment nor properties here, and keeps its name: make another schema, and "
        "rename tables into it"
    )


@delete("/schemas/{full_name:str}", status_code=200, sync_to_thread=True)
def delete_schema(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    full_name: FromPath[str],
    force: FromQuery[bool] = False,
) -> Response[bytes]:
    """Drop an empty schema; with ``force`` no more than that, because what is dropped can be had back."""
    lake, schema = find_schema(lakes, full_name)
    name = require_schema(lake, caller, schema)
    catalog = lake.catalog_for(caller.principal)
    if force and catalog.tables(name):
        raise InvalidRequest(
            f"the schema {lake.name}.{name} has tables, and dropping one with all that is in it is not "
            "offered: drop its tables one by one"
        )
    catalog.drop_schema(name)
    lake.catalog.copies.write_if_changed()
    return Response(b"", status_code=200)
