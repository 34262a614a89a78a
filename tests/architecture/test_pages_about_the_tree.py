"""The pages about the tree are true of it: paths exist, and no package, folder or port is left out."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headgate"
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
PLACES = (ROOT, SOURCE)
"""What paths of these pages begin in."""
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|md))`")
PACKAGE_LINE = re.compile(r"^(\w+)/ +(.+)$|^ {4,}(\S.*)$", re.MULTILINE)
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
WALK = re.compile(r"^\| [^|]+ \| `([^`]+)` \| ([^|]+) \|$", re.MULTILINE)
CLASS = re.compile(r"`([A-Z]\w+)`")
CODE = (*SOURCE.rglob("*.py"), *(ROOT / "tests" / "support").glob("*.py"))


def section(page: str, begin: str, end: str) -> str:
    return page.partition(begin)[2].partition(end)[0]


def listed_packages() -> dict[str, list[str]]:
    """What the page lists of each package, in its order: folders end in a slash, modules do not."""
    block = section(section(ARCHITECTURE, "Inside the packages", "\n## "), "```text\n", "```")
    found: dict[str, list[str]] = {}
    package = ""
    for name, first, more in PACKAGE_LINE.findall(block):
        package = name or package
        found.setdefault(package, []).extend(re.findall(r"\w+/?", first or more))
    return found


def layer_orders() -> dict[str, dict[str, int]]:
    """Of each package that has a contract of layers: the place of each module in it, highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return {
        container.removeprefix("headgate."): {
            name: place for place, layer in enumerate(contract["layers"]) for name in layer.split(" | ")
        }
        for contract in contracts
        for container in contract.get("containers", ())
    }


def ports() -> Iterator[tuple[str, str]]:
    """Every port of a catalog, and the file it is in."""
    for path in sorted((SOURCE / "catalog" / "ports").rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and "Protocol" in {ast.unparse(base) for base in node.bases}:
                yield node.name, path.relative_to(SOURCE).as_posix()


def test_every_path_that_the_page_names_exists() -> None:
    named = sorted(path for path in set(PATH.findall(ARCHITECTURE)) if not path.startswith("_delta_log"))

    assert len(named) >= 100
    assert [path for path in named if not any((place / path).exists() for place in PLACES)] == []


def test_the_answers_to_the_questions_exist_and_the_walks_lead_to_them() -> None:
    walks = WALK.findall(section(CONTRIBUTING, "\n## Six questions", "\n## "))
    led = [(answer, "".join(re.findall("`([^`]+)`", walk))) for answer, walk in walks]

    assert len(walks) == 6
    assert [(answer, place) for answer, place in led if place != answer] == []
    assert [answer for answer, _ in led if not (SOURCE / answer).exists()] == []


def test_all_packages_and_their_folders_are_listed() -> None:
    listed = listed_packages()
    folders = {
        package: {f"{path.parent.name}/" for path in (SOURCE / package).glob("*/__init__.py")}
        for package in PACKAGES
    }

    assert {package: {name for name in names if name.endswith("/")} for package, names in listed.items()} == (
        folders
    )


def test_the_modules_that_are_listed_exist() -> None:
    missing = [
        f"{package}/{name}"
        for package, names in listed_packages().items()
        for name in names
        if not name.endswith("/") and not (SOURCE / package / f"{name}.py").is_file()
    ]

    assert missing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_they_are_listed_in_the_order_of_their_layers(package: str) -> None:
    order = layer_orders()[package]
    listed = [name.removesuffix("/") for name in listed_packages()[package]]
    places = [order[name] for name in listed if name in order]

    assert places == sorted(places), listed


def test_every_port_of_a_catalog_is_in_a_table_with_its_file() -> None:
    rows = [line for line in section(ARCHITECTURE, "\n## Ports\n", "\n## ").splitlines() if line[:1] == "|"]
    missing = [
        f"{name} ({file})"
        for name, file in ports()
        if name != "LakeCatalog" and not any(f"`{name}`" in row and f"`{file}`" in row for row in rows)
    ]

    assert missing == [] and "`LakeCatalog` (`catalog/ports/catalog.py`)" in ARCHITECTURE


def test_the_classes_in_the_tables_of_ports_exist() -> None:
    named = set(CLASS.findall(section(ARCHITECTURE, "\n## Ports\n", "\n## ")))
    code = "".join(path.read_text() for path in CODE)

    assert len(named) >= 50
    assert [name for name in sorted(named) if not re.search(rf"^(class )?{name}\b", code, re.MULTILINE)] == []


def test_the_table_of_packages_has_every_package() -> None:
    table = section(CONTRIBUTING, "| question | package |", "\n\n")

    assert [package for package in PACKAGES if f"`{package}/`" not in table] == []
