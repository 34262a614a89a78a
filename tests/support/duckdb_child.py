"""DuckDB with the extension for Unity Catalog, in its own environment.

Run by path with that environment's interpreter; it knows nothing of this project. Each request gets a new
connection, because one that failed to commit cannot be used again.
"""

import json
import sys

import duckdb
from duckdb_extensions import import_extension


def main(url: str, catalog: str, schema: str, token: str) -> None:
    for line in sys.stdin:
        print(json.dumps(_answer((url, catalog, schema, token), json.loads(line)), default=str), flush=True)


def _answer(place, asked):
    try:
        with _with_extensions() as connection:
            if not asked.get("bare"):
                _attach(connection, *place)
            rows = []
            for statement in asked["statements"]:
                rows = connection.execute(statement).fetchall()
            return {"answer": rows}
    except Exception as exc:
        return {"refusal": str(exc)}


def _with_extensions():
    settings = {
        "allow_unsigned_extensions": "true",
        "threads": 1,
        "extension_directory": f"{sys.prefix}/extensions",
    }
    connection = duckdb.connect(config=settings)
    for name in ("httpfs", "delta", "unity_catalog"):
        import_extension(name, con=connection)
        connection.load_extension(name)
    return connection


def _attach(connection, url, catalog, schema, token):
    connection.execute(
        f"CREATE SECRET (TYPE unity_catalog, TOKEN '{token}', ENDPOINT '{url}', AWS_REGION 'us-east-1')"
    )
    connection.execute(f"ATTACH '{catalog}' AS lake (TYPE unity_catalog, DEFAULT_SCHEMA '{schema}')")


if __name__ == "__main__":
    main(*sys.argv[1:])
