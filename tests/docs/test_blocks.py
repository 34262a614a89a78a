"""Every block of code on a page is held to its language: run, parsed, or said to be plain text."""

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlglot
import yaml
from typer.testing import CliRunner

import headgate
from headgate.cli.main import app
from headgate.plugins import catalogs, coordinators, domain_handlers, policies
from headgate.server.settings import load_settings
from headgate.settings import Publish, Settings
from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.query import Foreign, Query
from tests.docs import test_docs
from tests.docs.test_docstrings import HELD
from tests.support import page_blocks, shell_lines
from tests.support.page_blocks import BLOCKS, PageBlock

ROOT = Path(__file__).parents[2]
RUN_BY_ENGINES = {"docs/how-to/other-engines.md": "tests/interop/test_http_recipes.py"}
"""Pages whose SQL a test has other engines run."""
OTHER_DIALECTS = {"UPDATE headgate.": "postgres"}
"""How SQL begins that is for another engine, and its dialect."""
RUN_HERE = {"check", "grants", "history", "publish", "show", "tables"}
"""Commands that are carried out, in a lake of two tables."""
TUTORIALS = ROOT / "docs" / "tutorial"
"""Pages that make tables of their own, and are followed from top to bottom."""
PLUGIN_GROUPS = {kind.GROUP for kind in (catalogs, coordinators, domain_handlers, policies)}
"""The groups of entry points that packages of others are found by."""
JAVA = (ROOT / "tests" / "support" / "java_kernel_child.py").read_text()


def _is_run(block: PageBlock) -> None:
    """The test of pages runs what stands at the margin of the pages that it knows."""
    assert block.page in test_docs.PAGES
    assert block.indent == 0


def _names_what_exists(block: PageBlock) -> None:
    """Python that needs another machine: it compiles, and its calls of ours are there."""
    tree = ast.parse(block.text)
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    known = [(node.value.id, node.attr) for node in used if isinstance(node.value, ast.Name)]
    assert not [call for held, call in known if held in HELD and not hasattr(HELD[held], call)]


def _names_commands(block: PageBlock) -> None:
    assert shell_lines.syntax_problem(block.text) == ""
    problems = {" ".join(each): shell_lines.problem(each) for each in shell_lines.commands_of(block.text)}
    assert {line: told for line, told in problems.items() if told} == {}


def _names_commands_of_a_session(block: PageBlock) -> None:
    typed = shell_lines.typed_in(block.text)
    assert typed, "nothing is typed here: this is ```text"
    _names_commands(PageBlock(block.page, block.line, "sh", 0, typed))


def _is_sql(block: PageBlock) -> None:
    """What is ours is read by our grammar, everything else by that of its engine."""
    place = block.place.partition(":")[0]
    if test := RUN_BY_ENGINES.get(place):
        assert Path(place).name in (ROOT / test).read_text()
        return
    other = next((name for begin, name in OTHER_DIALECTS.items() if block.text.startswith(begin)), None)
    for statement in block.text.split(";"):
        if not statement.strip():
            continue
        if other is not None or isinstance(parse_statement(statement).command, Foreign | Query):
            sqlglot.parse_one(statement, dialect=other or "spark")


def _is_settings(block: PageBlock, tmp_path: Path) -> None:
    """A file of a server's settings is one that a server takes; that of a project names what we load."""
    if "project" in (written := tomllib.loads(block.text)):
        groups = {name for name in written["project"].get("entry-points", {}) if name.startswith("headgate")}
        assert groups <= PLUGIN_GROUPS
        return
    file = tmp_path / "headgate.toml"
    lakes = "" if "[[lakes]]" in block.text else '[[lakes]]\nname = "main"\nplace = "lake"\n'
    file.write_text(f"{block.text}\n{lakes}")
    load_settings(file, {}, {})


def _is_json(block: PageBlock) -> None:
    try:
        json.loads(block.text)
    except json.JSONDecodeError:
        assert [json.loads(line) for line in block.text.splitlines() if line.strip()]


def _is_yaml(block: PageBlock) -> None:
    assert list(yaml.safe_load_all(block.text))


def _is_properties(block: PageBlock) -> None:
    assert all(re.match(r"^[\w.]+(\s+|=)\S+$", line) for line in block.text.splitlines() if line.strip())


def _is_dockerfile(block: PageBlock) -> None:
    begins = [line.split()[0] for line in block.text.replace("\\\n", " ").splitlines() if line.strip()]
    assert set(begins) <= {
        "#",
        "FROM",
        "RUN",
        "COPY",
        "USER",
        "ENTRYPOINT",
        "CMD",
        "ENV",
        "WORKDIR",
        "EXPOSE",
    }
    assert begins[0] in ("#", "FROM")


def _is_java_that_a_test_drives(block: PageBlock) -> None:
    """The same classes and calls are driven by the tests of other engines, from Python."""
    names = {name for name in re.findall(r"\b(?:new (\w+)|\.(\w+)\()", block.text) for name in name if name}
    assert names - {"Map", "of", "empty", "UCTableIdentifier"} <= set(re.findall(r"\w+", JAVA))


CHECKS: dict[str, Callable[..., None]] = {
    "python": _is_run,
    "py": _names_what_exists,
    "sh": _names_commands,
    "console": _names_commands_of_a_session,
    "sql": _is_sql,
    "toml": _is_settings,
    "json": _is_json,
    "yaml": _is_yaml,
    "properties": _is_properties,
    "dockerfile": _is_dockerfile,
    "java": _is_java_that_a_test_drives,
    "text": lambda block: None,  # what is printed, and drawings
}
"""What each language is held to. A block that says none, or another, fails."""


@pytest.mark.parametrize("page", page_blocks.PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_of_a_page_is_held_to_its_language(page: Path, tmp_path: Path) -> None:
    for block in page_blocks.blocks_of(page):
        assert block.language in CHECKS, f"{block.place}: {block.language or 'no language'}"
        check = CHECKS[block.language]
        try:
            check(*((block, tmp_path) if check is _is_settings else (block,)))
        except Exception as exc:
            raise AssertionError(f"{block.place}: {exc}") from exc


def _here() -> list[tuple[str, list[str]]]:
    """The commands that need nothing but a lake in this folder."""
    found = []
    for block in BLOCKS:
        if block.page.parent == TUTORIALS:
            continue
        text = {"sh": block.text, "console": shell_lines.typed_in(block.text)}.get(block.language, "")
        for program, *words in shell_lines.commands_of(text):
            far = any("://" in word or word.startswith(("/", "$")) for word in words)
            if program == "headgate" and words and words[0] in RUN_HERE and not far:
                found.append((block.place, words))
    return found


def test_the_commands_that_pages_give_for_a_lake_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with headgate.connect("lake", settings=Settings(publish=Publish.ON_DEMAND)) as lake:
        lake.create_schema("sales")
        for name in ("sales.orders", "sales.stock"):
            lake.create_table(name, "id BIGINT NOT NULL").append([{"id": 1}])

    ran = {(place, shlex.join(words)): CliRunner().invoke(app, words) for place, words in _here()}

    assert {line: result.output for line, result in ran.items() if result.exit_code} == {}
    assert len(ran) >= 3


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("", "anything"),
        ("sh", "headgate tables --no-such-option"),
        ("sh", "headgate no-such-command"),
        ("sh", "make no-such-target"),
        ("sh", "pip install 'headgate[no-such-extra]'"),
        ("sh", "if then"),
        ("console", "only what is printed"),
        ("py", "import headgate\nheadgate.no_such_call()"),
        ("sql", "SELECT id FROM (orders"),
        ("toml", "[server]\nno_such_setting = 1"),
        ("json", "{"),
        ("yaml", "a: [1"),
        ("toml", '[project.entry-points."headgate.no_such_plugins"]\na = "b:c"'),
        ("dockerfile", "INSTALL headgate"),
        ("properties", "one-word"),
    ],
)
def test_a_block_that_is_wrong_is_seen(language: str, text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n```{language}\n{text}\n```\n")

    with pytest.raises(AssertionError, match="page"):
        test_every_block_of_a_page_is_held_to_its_language(page, tmp_path)
