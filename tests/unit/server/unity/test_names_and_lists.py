"""Catalogs, schemas and tables by the older routes: lists, names however encoded, and refusals."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.access import Principal
from headgate.catalog.ports.directory import TableName
from headgate.clock import SystemWorld
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct
from headgate.server.caller import Authenticator, Caller
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support.http_server import serving
from tests.support.tables import create_filesystem, create_managed
from tests.support.unity_client import Refusal, UnityClient


class ByToken(Authenticator):
    """Whoever has a token is who it names: for tests of what others may not do."""

    def authenticate(self, authorization: str | None) -> Caller:
        return Caller(Principal((authorization or "").removeprefix("Bearer").strip() or "owner"))


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(open_catalog(tmp_path / "lake")) as opened:
        yield opened


@pytest.fixture
def client(catalog: Catalog) -> Iterator[UnityClient]:
    with serving(catalog, authenticator=ByToken()) as url:
        yield UnityClient(url)


def refused(status: int, code: str, ask: object) -> str:
    with pytest.raises(Refusal) as caught:
        ask()  # type: ignore[operator]
    assert (caught.value.status, caught.value.code) == (status, code)
    assert caught.value.body["details"][0]["reason"] == code
    return str(caught.value.body["message"])


def test_a_lake_is_a_catalog(client: UnityClient) -> None:
    (listed,) = client.get("/catalogs")["catalogs"]

    assert listed["name"] == "main"
    assert client.get("/catalogs/MAIN") == listed
    refused(404, "CATALOG_NOT_FOUND", lambda: client.get("/catalogs/other"))
    assert "configuration" in refused(400, "INVALID_ARGUMENT", lambda: client.post("/catalogs", name="new"))
    assert client.get("/metastore_summary") == client.get("/metastore_summary")


def test_schemas_are_made_listed_and_dropped(client: UnityClient) -> None:
    made = client.post("/schemas", name="Sales", catalog_name="main", comment="kept nowhere", properties={})

    assert (made["full_name"], made["catalog_name"]) == ("main.sales", "main")
    assert client.get("/schemas", catalog_name="main")["schemas"] == [made]
    assert client.get("/schemas/main.sales") == made
    again = refused(
        409, "SCHEMA_ALREADY_EXISTS", lambda: client.post("/schemas", name="SALES", catalog_name="main")
    )
    assert "SCHEMA_ALREADY_EXISTS" in again
    refused(400, "INVALID_ARGUMENT", lambda: client.ask("PATCH", "/schemas/main.sales", {"comment": "x"}))
    client.delete("/schemas/main.sales", force="true")
    refused(404, "SCHEMA_NOT_FOUND", lambda: client.get("/schemas/main.sales"))
    refused(404, "SCHEMA_NOT_FOUND", lambda: client.delete("/schemas/main.sales"))
    refused(400, "INVALID_ARGUMENT", lambda: client.get("/schemas/sales"))


def test_a_schema_with_tables_stays_whatever_force_says(client: UnityClient, catalog: Catalog) -> None:
    create_managed(catalog, TableName("sales", "orders"))

    for said in ("true", "false"):
        refused(400, "INVALID_ARGUMENT", lambda force=said: client.delete("/schemas/main.sales", force=force))

    assert client.get("/tables/main.sales.orders")["name"] == "orders"


def test_the_list_says_that_tables_are_catalog_managed(client: UnityClient, catalog: Catalog) -> None:
    staging = create_managed(catalog, TableName("sales", "orders"))

    (listed,) = client.get("/tables", catalog_name="main", schema_name="sales")["tables"]

    assert listed == client.get("/tables/main.sales.orders")
    assert listed["table_id"] == staging.table_id
    assert listed["storage_location"] == f"file://{staging.location}"
    assert (listed["table_type"], listed["data_source_format"]) == ("MANAGED", "DELTA")
    assert listed["properties"]["delta.feature.catalogManaged"] == "supported"
    assert listed["properties"]["io.unitycatalog.tableId"] == staging.table_id
    assert all(isinstance(value, str) for value in listed["properties"].values())


@pytest.mark.parametrize("name", ["main%2Esales%2Eorders", "main%1Fsales%1Forders", "MAIN.Sales.my%5Forders"])
def test_names_are_decoded(client: UnityClient, catalog: Catalog, name: str) -> None:
    for table in ("orders", "my_orders"):
        create_managed(catalog, TableName("sales", table))

    assert client.get(f"/tables/{name}")["schema_name"] == "sales"


def test_pages_follow_each_other_whatever_comes_and_goes(client: UnityClient, catalog: Catalog) -> None:
    for number in range(5):
        create_managed(catalog, TableName("sales", f"t{number}"))
    asked = {"catalog_name": "main", "schema_name": "sales"}

    first = client.get("/tables", **asked, max_results=2)
    catalog.drop(TableName("sales", "t1"))
    create_managed(catalog, TableName("sales", "t00"))
    second = client.get("/tables", **asked, max_results=2, page_token=first["next_page_token"])
    third = client.get("/tables", **asked, max_results=2, page_token=second["next_page_token"])

    pages = [[found["name"] for found in page["tables"]] for page in (first, second, third)]
    assert pages == [["t0", "t1"], ["t2", "t3"], ["t4"]]
    assert not third["next_page_token"]


@pytest.mark.parametrize("query", [{"max_results": 0}, {"max_results": 2147483647, "page_token": ""}, {}])
def test_what_spark_and_flink_ask_for_is_everything(
    client: UnityClient, catalog: Catalog, query: dict[str, object]
) -> None:
    create_managed(catalog, TableName("sales", "orders"))

    told = client.get("/tables", catalog_name="main", schema_name="sales", **query)

    assert len(told["tables"]) == 1
    assert not told["next_page_token"]
    assert len(client.get("/schemas", catalog_name="main", **query)["schemas"]) == 1


def test_a_page_has_a_limit_and_a_number_that_is_none_is_refused(client: UnityClient) -> None:
    client.post("/schemas", name="sales", catalog_name="main")
    asked = {"catalog_name": "main", "schema_name": "sales"}

    refused(400, "INVALID_ARGUMENT", lambda: client.get("/tables", **asked, max_results=-1))
    refused(400, "INVALID_ARGUMENT", lambda: client.get("/tables", **asked, max_results="many"))
    refused(400, "INVALID_ARGUMENT", lambda: client.get("/tables", catalog_name="main"))
    refused(404, "SCHEMA_NOT_FOUND", lambda: client.get("/tables", catalog_name="main", schema_name="no"))


def test_columns_are_spelled_for_spark_and_for_duckdb(client: UnityClient, catalog: Catalog) -> None:
    nested = Struct((Field("a", Array(Primitive("long"), contains_null=True)),))
    schema = Struct(
        (
            Field("id", Primitive("long"), nullable=False),
            Field("amount", Primitive("decimal(10,2)"), metadata={"comment": "of money"}),
            Field("n", Map(Primitive("string"), nested, value_contains_null=True)),
            Field("day", Primitive("date")),
        )
    )
    catalog.create_schema("sales")
    staging = catalog.stage(TableName("sales", "orders"))
    definition = TableDefinition(schema, partition_by=("day",))
    create.write_version_0(locate(staging.location), definition, managed=True, world=SystemWorld())
    catalog.register(staging, TableName("sales", "orders"))

    columns = client.get("/tables/main.sales.orders")["columns"]

    assert [column["type_text"] for column in columns] == [
        "bigint", "decimal(10,2)", "map<string,struct<a:array<bigint>>>", "date",
    ]  # fmt: skip
    assert [column["type_name"] for column in columns] == ["LONG", "DECIMAL", "MAP", "DATE"]
    assert [(column["type_precision"], column["type_scale"]) for column in columns] == [
        (0, 0), (10, 2), (0, 0), (0, 0),
    ]  # fmt: skip
    assert [column["position"] for column in columns] == [0, 1, 2, 3]
    assert [column["nullable"] for column in columns] == [False, True, True, True]
    assert [column["partition_index"] for column in columns] == [None, None, None, 0]
    assert columns[1]["comment"] == "of money"
    assert '"name":"id"' in columns[0]["type_json"]
    assert '"nullable":false' in columns[0]["type_json"]


def test_a_dropped_table_is_gone_and_can_be_had_back(client: UnityClient, catalog: Catalog) -> None:
    staging = create_managed(catalog, TableName("sales", "orders"))

    client.delete("/tables/main.sales.orders")

    refused(404, "TABLE_NOT_FOUND", lambda: client.get("/tables/main.sales.orders"))
    refused(404, "TABLE_NOT_FOUND", lambda: client.delete("/tables/main.sales.orders"))
    assert catalog.undrop(TableName("sales", "orders")).table_id == staging.table_id


def test_an_ordinary_table_is_listed_as_external_and_nobody_takes_it_for_managed(
    catalog: Catalog, client: UnityClient, tmp_path: Path
) -> None:
    create_managed(catalog, TableName("sales", "orders"))
    create_filesystem(locate(str(tmp_path / "ordinary")))
    asked = {
        "name": "ordinary", "catalog_name": "main", "schema_name": "sales", "table_type": "EXTERNAL",
        "data_source_format": "DELTA", "columns": [], "storage_location": f"file://{tmp_path}/ordinary/",
    }  # fmt: skip
    catalog.granting.grant("READ", "sales", "ada")
    ada = UnityClient(client.url, token="ada")
    refused(403, "PERMISSION_DENIED", lambda: ada.post("/tables", **asked))

    made = client.post("/tables", **asked)
    again = client.post("/tables", **asked)
    orders, listed = ada.get("/tables", catalog_name="main", schema_name="sales")["tables"]

    assert made == again == listed == ada.get("/tables/main.sales.ordinary")
    assert (made["table_type"], made["storage_location"]) == ("EXTERNAL", f"file://{tmp_path}/ordinary")
    assert [column["name"] for column in made["columns"]] == ["id", "writer"]
    assert "delta.feature.catalogManaged" not in made["properties"]
    assert orders["properties"]["delta.feature.catalogManaged"] == "supported"
    vended = ada.post("/temporary-table-credentials", table_id=made["table_id"], operation="READ")
    assert vended["url"] == made["storage_location"]
    refused(
        403,
        "PERMISSION_DENIED",
        lambda: ada.post("/temporary-table-credentials", table_id=made["table_id"], operation="READ_WRITE"),
    )
    refused(403, "PERMISSION_DENIED", lambda: ada.delete("/tables/main.sales.ordinary"))
    client.delete("/tables/main.sales.ordinary")
    refused(404, "TABLE_NOT_FOUND", lambda: client.get("/tables/main.sales.ordinary"))
    assert (tmp_path / "ordinary" / "_delta_log").is_dir()


def test_who_may_not_see_a_table_hears_nothing_of_it(client: UnityClient, catalog: Catalog) -> None:
    staging = create_managed(catalog, TableName("sales", "orders"))
    ada = UnityClient(client.url, token="ada")

    refused(404, "TABLE_NOT_FOUND", lambda: ada.get("/tables/main.sales.orders"))
    refused(404, "SCHEMA_NOT_FOUND", lambda: ada.get("/tables", catalog_name="main", schema_name="sales"))
    assert ada.get("/schemas", catalog_name="main")["schemas"] == []
    asked = {"table_id": staging.table_id, "operation": "READ"}
    refused(404, "TABLE_NOT_FOUND", lambda: ada.post("/temporary-table-credentials", **asked))
    refused(403, "PERMISSION_DENIED", lambda: ada.post("/schemas", name="new", catalog_name="main"))

    catalog.granting.grant("read", "sales.orders", "ada")
    (seen,) = ada.get("/tables", catalog_name="main", schema_name="sales")["tables"]
    assert seen["name"] == "orders"
    assert ada.post("/temporary-table-credentials", **asked)["url"] == f"file://{staging.location}"
    refused(403, "PERMISSION_DENIED", lambda: ada.delete("/tables/main.sales.orders"))


def test_credentials_for_a_path_are_those_of_its_table(client: UnityClient, catalog: Catalog) -> None:
    staging = create_managed(catalog, TableName("sales", "orders"))
    ask = client.post

    told = ask("/temporary-path-credentials", url=f"file:{staging.location}/part/", operation="PATH_READ")

    assert told["url"] == f"file://{staging.location}"
    for elsewhere in ("file:///etc", f"{staging.location}/..", f"{staging.location}2"):
        refused(
            403,
            "PERMISSION_DENIED",
            lambda url=elsewhere: ask("/temporary-path-credentials", url=url, operation="PATH_READ"),
        )


def test_privileges_of_unity_catalog_are_granted_as_ours(client: UnityClient, catalog: Catalog) -> None:
    create_managed(catalog, TableName("sales", "orders"))
    on = "/permissions/table/main.sales.orders"
    change = {"principal": "ada", "add": ["SELECT", "MODIFY", "DROP"], "remove": []}

    told = client.ask("PATCH", on, {"changes": [change]})

    expected = [{"principal": "ada", "privileges": ["DROP", "MODIFY", "SELECT"]}]
    assert told["privilege_assignments"] == expected
    assert client.get(on)["privilege_assignments"] == expected
    assert client.get(on, principal="eve")["privilege_assignments"] == []
    assert {grant.privilege.value for grant in catalog.granting.grants()} >= {"READ", "CHANGE DATA"}

    taken = {"principal": "ada", "add": [], "remove": ["MODIFY", "DROP"]}
    assert client.ask("PATCH", on, {"changes": [taken]})["privilege_assignments"] == [
        {"principal": "ada", "privileges": ["SELECT"]}
    ]
    ada = UnityClient(client.url, token="ada")
    mine = {"changes": [{"principal": "ada", "add": ["MODIFY"]}]}
    refused(403, "PERMISSION_DENIED", lambda: ada.ask("PATCH", on, mine))
    wrong = {"changes": [{"principal": "eve", "add": ["SELECT", "FLY"]}]}
    refused(400, "INVALID_ARGUMENT", lambda: client.ask("PATCH", on, wrong))
    assert client.get(on, principal="eve")["privilege_assignments"] == []
    refused(400, "INVALID_ARGUMENT", lambda: client.get("/permissions/volume/main.sales.orders"))


def test_privileges_on_schemas_and_lakes(client: UnityClient, catalog: Catalog) -> None:
    catalog.create_schema("sales")
    for on, name in (("schema", "main.sales"), ("catalog", "main")):
        change = {"principal": "ada", "add": ["CREATE_TABLE", "USE_SCHEMA"]}
        told = client.ask("PATCH", f"/permissions/{on}/{name}", {"changes": [change]})
        assert told["privilege_assignments"] == [{"principal": "ada", "privileges": ["CREATE TABLE"]}]
    assert {grant.on for grant in catalog.granting.grants()} == {"sales", "lake"}
