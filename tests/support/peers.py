"""Other readers of Delta tables and what they say of them, warnings included."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from tests.support import duck
from tests.support.waiting import PATIENCE_SECONDS

_READ = """
import json, sys
import deltalake
for location in sys.argv[1:]:
    print("--- " + location, file=sys.stderr, flush=True)
    try:
        table = deltalake.DeltaTable(location)
        found = deltalake.QueryBuilder().register("t", table).execute("SELECT id, writer FROM t ORDER BY id")
        said = {"rows": [list(row.values()) for row in found.read_all().to_struct_array().to_pylist()],
                "etl": table.transaction_version("etl")}
    except Exception as refused:
        said = {"refused": str(refused)}
    sys.stderr.flush()
    print(json.dumps(said), flush=True)
"""


@dataclass(frozen=True)
class Said:
    """What a reader made of a table."""

    rows: list[tuple[int, str]] | None
    """In the order of their ids; None if it refused to read them."""
    refusal: str = ""
    complaints: str = ""
    """Everything it logged as a warning or worse."""
    etl: int | None = None
    """The last transaction of the application of that name."""


def by_deltalake(locations: Sequence[str], *, level: str = "warn") -> dict[str, Said]:
    """What delta-rs says of tables; it logs by the environment, so in a process of its own.

    That is what it logs itself and Python's warnings: its Python package keeps the log of the kernel within.
    """
    ran = subprocess.run(
        [sys.executable, "-W", "always", "-c", _READ, *locations],
        env={**os.environ, "RUST_LOG": level}, capture_output=True, text=True, check=True,
        timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    logged = [part.partition("\n")[2].strip() for part in ran.stderr.split("--- ")[1:]]
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    return {
        location: Said(
            [(row[0], row[1]) for row in answer["rows"]] if "rows" in answer else None,
            answer.get("refused", ""), complaints, answer.get("etl"),
        )
        for location, answer, complaints in zip(locations, answers, logged, strict=True)
    }  # fmt: skip


def by_duckdb(location: str, *, latest: int | None = None) -> Said:
    """What delta-kernel in DuckDB says of a table; of a managed one that is published up to ``latest``."""
    with duck.connect() as connection:
        connection.execute("SET delta_kernel_logging = true")
        connection.execute("CALL enable_logging(level = 'warning')")
        connection.execute("CALL truncate_duckdb_logs()")
        source = f"delta_scan('{location}')"
        try:
            if latest is not None:
                connection.execute(f"ATTACH '{location}' AS t (TYPE delta, MAX_CATALOG_VERSION {latest})")
                source = "t"
            rows = connection.sql(f"SELECT id, writer FROM {source} ORDER BY id").fetchall()
        except duckdb.Error as refused:
            return Said(None, str(refused))
        logged = connection.sql("SELECT message FROM duckdb_logs WHERE log_level IN ('WARNING', 'ERROR')")
        return Said(rows, complaints="\n".join(row[0] for row in logged.fetchall()))
