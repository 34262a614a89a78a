"""Docstrings name what exists: the benchmark that justifies something clever, and calls of an example."""

import ast
import inspect
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate
from headgate import Lake, Table
from headgate.lake.transaction import LakeSnapshot, LakeTransaction
from headgate.settings import Publish, Settings

ROOT = Path(__file__).parents[2]
BENCHMARK = re.compile(r"``(benchmarks/\w+\.py)``")
DOCSTRINGS = {
    path.relative_to(ROOT).as_posix(): ast.get_docstring(ast.parse(path.read_text())) or ""
    for path in sorted((ROOT / "src" / "headgate").rglob("*.py"))
}
NAME = re.compile(r"``([A-Za-z_]\w*(?:\.\w+)*)``")
NOT_OURS = frozenset(
    {
        *(
            "ana",
            "teleport",
            "orders",
            "stock",
            "prices",
            "key",
            "value",
            "t2",
            "größe",
            "deltaFeatureX",
        ),  # of examples
        *("from_protobuf", "from_xml", "java_method", "xpath"),  # functions of Spark
        *("copyFromLocalToFs", "processAllAvailable", "spark_catalog"),  # Spark's, too
        *(
            "CommitFailedException",
            "large_string",
            "traceparent",
            "_symlink_format_manifest",
        ),  # Delta's, Arrow's, a header, a folder
    }
)
"""Names in docstrings that nothing in the code is called by."""
NAMING = {path: found for path, text in DOCSTRINGS.items() if (found := BENCHMARK.findall(text))}


@pytest.mark.parametrize("path", NAMING)
def test_the_benchmarks_that_a_docstring_names_exist(path: str) -> None:
    assert [name for name in NAMING[path] if not (ROOT / name).is_file()] == []


def test_whatever_is_clever_about_the_jvm_or_the_database_names_a_benchmark() -> None:
    doors = [path for path in DOCSTRINGS if "/spark/jvm/" in path and not path.endswith("__init__.py")]
    clever = ("sqlite_write_queue.py", "sqlite_group_fsync.py", "prepared_statements.py", "/snapshot.py")
    doors += [path for path in DOCSTRINGS if path.endswith(clever)]

    assert [path for path in doors if path not in NAMING] == []
    assert len(doors) >= 8


def _told(node: ast.AST) -> Iterator[ast.Constant]:
    """The texts that stand for themselves below a node: docstrings, and those behind what they are about."""
    for each in ast.walk(node):
        match each:
            case ast.Expr(ast.Constant(str()) as told):
                yield told


def _words_of_code(text: str, told: list[ast.Constant]) -> set[str]:
    """Every word of a module but those of its docstrings, and of comments behind code."""
    inside = {line for each in told for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    lines = [line.partition("  # ")[0] for at, line in enumerate(text.splitlines(), 1) if at not in inside]
    return set(re.findall(r"[^\W\d]\w*", "\n".join(lines)))


def test_names_in_docstrings_are_names_of_something() -> None:
    modules = sorted((ROOT / "src" / "headgate").rglob("*.py"))
    known = {"py", *NOT_OURS, *(path.stem for path in modules), *(path.parent.name for path in modules)}
    named: list[tuple[str, str]] = []
    for path in modules:
        text = path.read_text()
        told = list(_told(ast.parse(text)))
        known |= _words_of_code(text, told)
        place = path.relative_to(ROOT).as_posix()
        named += [(place, name) for each in told for name in NAME.findall(str(each.value))]

    assert len(named) >= 1_000
    assert [(place, name) for place, name in named if not known.issuperset(name.split("."))] == []


NOUN = re.compile(r"\b(?:for|to|by|from|behalf\s+of)\s+who\s(?!is\b|may\s+do\b)")


def test_who_is_no_noun() -> None:
    """Say "for callers who", "to anyone who", "by whoever"."""
    sources = [*(ROOT / "src" / "headgate").rglob("*.py"), *(ROOT / "src" / "headgate").rglob("*.html")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

    assert [path.name for path in sorted([*sources, *pages]) if NOUN.search(path.read_text())] == []


HELD = {"lake": Lake, "orders": Table, "events": Table, "tx": LakeTransaction, "headgate": headgate}
"""What the names of examples stand for."""
TAKES_SPARK = frozenset({"spark", "df", "stream", "batch"})
SPARK_CALLS = frozenset(
    {
        *(
            "Table.read",
            "Table.read_stream",
            "Table.changes",
            "Table.history",
            "Table.detail",
            "Table.delete",
            "Table.update",
        ),
        *(
            "Table.optimize",
            "Table.purge",
            "Table.add_constraint",
            "Table.sync_identity",
            "headgate.named_errors",
        ),
    }
)
TAKES_MORE = frozenset(
    {
        *("Lake.accept_version", "Lake.set_aside_version"),  # versions that others published
        *("Table.coordinate", "Table.uncoordinate", "Table.force_uncoordinate"),  # a coordinator
    }
)
"""Calls whose examples are compiled, and not carried out here."""


def _public_calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    for owner in (Lake, Table, LakeTransaction, LakeSnapshot):
        for name, function in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{owner.__name__}.{name}", function
    for name in headgate.__all__:
        if inspect.isfunction(found := getattr(headgate, name)):
            yield f"headgate.{name}", found


CALLS = dict(_public_calls())


def example_of(function: Callable[..., Any]) -> str:
    """The last paragraph of a docstring; behind a single line it is not seen to be indented."""
    return dedent((inspect.getdoc(function) or "").rpartition("\n\n")[2])


def _names(example: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(example)) if isinstance(node, ast.Name)}


def _is_carried_out(name: str) -> bool:
    return name not in SPARK_CALLS | TAKES_MORE and not TAKES_SPARK & _names(example_of(CALLS[name]))


@pytest.mark.parametrize("name", CALLS)
def test_every_public_call_has_an_example_of_itself_that_names_what_exists(name: str) -> None:
    example = example_of(CALLS[name])

    tree = ast.parse(example)
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    known = [(node.value.id, node.attr) for node in used if isinstance(node.value, ast.Name)]
    assert name.rpartition(".")[2] in {node.attr for node in used}
    assert not [(held, call) for held, call in known if held in HELD and not hasattr(HELD[held], call)]
    assert len(example.splitlines()) <= 3


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake, a table by its path, and a parquet file."""
    place = tmp_path_factory.mktemp("template")
    with headgate.connect(place / "lake", settings=Settings(publish=Publish.ON_DEMAND)) as lake:
        lake.create_schema("sales")
        lake.create_table("sales.stock", "sku STRING NOT NULL")
        columns = "id BIGINT NOT NULL, sku STRING, n INT, day DATE"
        orders = lake.create_table("sales.orders", columns, domains={"shop.loaded": "2"})
        for number in (1, 2):
            orders.append([{"id": number, "sku": "a", "n": 1}])
    headgate.at_path(place / "events", columns="id BIGINT, name STRING")
    (place / "parquet").mkdir()
    pq.write_table(pa.table({"id": [1]}), place / "parquet" / "one.parquet")
    return place


@pytest.mark.parametrize("name", [name for name in CALLS if _is_carried_out(name)])
def test_examples_that_take_no_spark_run(
    name: str, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    with headgate.connect("lake", settings=Settings(publish=Publish.ON_DEMAND)) as lake:
        known: dict[str, object] = {"headgate": headgate, "lake": lake, "orders": lake.table("sales.orders")}
        if name.startswith("LakeTransaction."):
            known["tx"] = lake.transaction()

        exec(compile(example_of(CALLS[name]), name, "exec"), known)


def test_most_examples_run() -> None:
    assert sum(map(_is_carried_out, CALLS)) >= 80
    assert set(CALLS) >= SPARK_CALLS | TAKES_MORE
