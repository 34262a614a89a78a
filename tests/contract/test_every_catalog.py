"""Is each contract asked of every catalog, both databases and a server over each? Or a row says why not."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.catalogs import EVERYWHERE
from tests.support.short_run import SHORT

HERE = Path(__file__).parent
DATABASES = frozenset({"sqlite", "postgresql"})
EVERY = DATABASES | {"http-sqlite", "http-postgresql"}
_KIND = re.compile(r"(?<![\w-])(?:http-)?(?:sqlite|postgresql)(?![\w])")
_RULES = "rules of commits are asked before anything of a server or a database is"
_NO_CATALOG = "no catalog is part of what it asks"

LEFT_OUT: Mapping[str, tuple[frozenset[str], str]] = {
    "test_appends_only_append": (DATABASES, _RULES),
    "test_asked_first": (DATABASES, _RULES),
    "test_commit_owner": (EVERY - {"sqlite"}, "an owner over SQLite is called database there"),
    "test_committer": (frozenset(), "it asks the routes of commits, over one catalog"),
    "test_copying": (frozenset(), _NO_CATALOG),
    "test_credential_scopes": (
        DATABASES,
        "scopes come with credentials, which a server asks its catalog for",
    ),
    "test_every_catalog": (frozenset(), "it is this one"),
    "test_hostile_actions": (frozenset(), _RULES),
    "test_identity_marks": (DATABASES, _RULES),
    "test_integrity": (frozenset(), "it breaks tables by hand, in one database each"),
    "test_object_stores": (frozenset(), _NO_CATALOG),
    "test_older_lakes": (DATABASES, "it opens databases that an older release made"),
    "test_owner_failures": (frozenset(), "it asks one owner, behind HTTP"),
    "test_owner_over_http": (DATABASES, "it starts servers of its own over each"),
    "test_policies": (DATABASES, _RULES),
    "test_postgresql": (frozenset({"postgresql"}), "it asks what PostgreSQL alone has to promise"),
    "test_privileges": (DATABASES, _RULES),
    "test_publications": (DATABASES, "it looks at how the catalog of one process reads published files"),
    "test_recovery": (DATABASES, "it opens databases that are lost, which no server would serve"),
    "test_rehearsals": (DATABASES, "a catalog offers that to its own server alone"),
    "test_s3_faults": (frozenset(), "it asks stores, over one catalog"),
    "test_settled_take_over": (frozenset({"postgresql"}), "an owner over SQLite is called database there"),
    "test_store": (frozenset(), _NO_CATALOG),
    "test_tokens": (DATABASES, "a server asks its own catalog whose a token is"),
    "test_wall": (frozenset(), "it names its databases; through a server unit/server/routes/own asks it"),
    "test_writes_commits": (frozenset({"postgresql"}), "an owner over SQLite is called database there"),
}
"""Of which catalogs such a suite is asked, and why it is not asked of every one."""


@pytest.fixture(scope="module")
def asked() -> Mapping[str, frozenset[str]]:
    """The kinds of catalogs in the parameters of each suite, as ``make contracts`` collects them."""
    environment = {**os.environ, EVERYWHERE: "1"}
    environment.pop(SHORT, None)
    command = [sys.executable, "-m", "pytest", str(HERE), "--collect-only", "-q", "-p", "no:cacheprovider"]
    listed = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=HERE.parents[1]
    )
    found = {path.stem: frozenset[str]() for path in HERE.glob("test_*.py")}
    for line in listed.stdout.splitlines():
        file, _, test = line.partition("::")
        if test:
            found[Path(file).stem] |= set(_KIND.findall(test.partition("[")[2]))
    assert found["test_commit_catalog"], listed.stdout + listed.stderr
    return found


def test_every_suite_is_asked_of_every_catalog_or_says_why_not(asked: Mapping[str, frozenset[str]]) -> None:
    expected = {suite: LEFT_OUT[suite][0] if suite in LEFT_OUT else EVERY for suite in asked}

    assert asked == expected
    assert set(LEFT_OUT) <= set(asked)


def test_make_contracts_asks_a_server_over_postgresql_too() -> None:
    """By the variable with which it is in every list of catalogs."""
    target = (HERE.parents[1] / "Makefile").read_text().partition("\ncontracts:")[2].partition("\n\n")[0]

    assert f"{EVERYWHERE}=1" in target
