"""Schemas, and lists of tables: both are in the older API alone, which every server has for them."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.unity.delta_calls import BASE, decode_answer
from headgate.catalog.unity.http_calls import UnityAnswer, UnityServer, segment
from headgate.catalog.unity.older_calls import OlderTable, older_entry
from headgate.catalog.unity.refusals import describe, refusal
from headgate.catalog.wire.unity_api import CreateUnitySchema, UnityBody
from headgate.errors import CatalogUnavailable

_PAGE = "100"
_MOST_PAGES = 10_000
_SCHEMA_EXISTS = "SCHEMA_ALREADY_EXISTS"


class OlderSchema(UnityBody, frozen=True, kw_only=True):
    """A schema, of which the name is all that counts here."""

    name: str


class SchemasPage(UnityBody, frozen=True, kw_only=True):
    """Some schemas."""

    schemas: tuple[OlderSchema, ...] | None = None
    next_page_token: str | None = None


class TablesPage(UnityBody, frozen=True, kw_only=True):
    """Some tables."""

    tables: tuple[OlderTable, ...] | None = None
    next_page_token: str | None = None


@dataclass(frozen=True, slots=True)
class DirectoryCalls:
    """The schemas of one catalog of a server, and what is in them."""

    server: UnityServer
    catalog: str

    def create_schema(self, schema: str) -> bool:
        """Make a schema; whether it was new, as far as the server says."""
        asked = CreateUnitySchema(name=schema, catalog_name=self.catalog)
        answer = self.server.send_safely("POST", f"{BASE}/schemas", msgspec.json.encode(asked))
        if answer.is_success:
            return True
        if describe(answer)[0] == _SCHEMA_EXISTS or answer.status == 409:
            return False
        raise refusal(answer, f"schema {schema}")

    def schemas(self) -> tuple[str, ...]:
        """Every schema, by name."""
        return tuple(sorted(schema.name for page in self._schema_pages() for schema in page.schemas or ()))

    def _schema_pages(self) -> Iterator[SchemasPage]:
        token = ""
        for _ in range(_MOST_PAGES):
            page = decode_answer(self._page("schemas", token), SchemasPage, "the list of schemas")
            yield page
            token = page.next_page_token or ""
            if not token:
                return
        raise _endless("schemas")

    def drop_schema(self, schema: str) -> bool:
        """Take away an empty schema; whether there was one."""
        answer = self.server.send_safely("DELETE", f"{BASE}/schemas/{segment(f'{self.catalog}.{schema}')}")
        if answer.status == 404:
            return False
        if not answer.is_success:
            raise refusal(answer, f"dropping schema {schema}")
        return True

    def tables(self, schema: str) -> Iterator[TableEntry]:
        """The Delta tables of a schema that the server manages."""
        token = ""
        for _ in range(_MOST_PAGES):
            page = decode_answer(self._page("tables", token, schema), TablesPage, f"the tables of {schema}")
            for found in page.tables or ():
                if found.data_source_format in (None, "DELTA") and found.table_type in (None, "MANAGED"):
                    yield older_entry(found, TableName(schema, found.name))
            token = page.next_page_token or ""
            if not token:
                return
        raise _endless("tables")

    def _page(self, kind: str, token: str, schema: str | None = None) -> UnityAnswer:
        query = {"catalog_name": self.catalog, "max_results": _PAGE}
        if schema is not None:
            query["schema_name"] = schema
        if token:
            query["page_token"] = token
        return self.server.send_safely("GET", f"{BASE}/{kind}", query=query)


def _endless(kind: str) -> CatalogUnavailable:
    return CatalogUnavailable(f"the server's list of {kind} does not end after {_MOST_PAGES} pages")
