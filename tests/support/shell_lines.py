"""What would a line of shell on a page run, and is there such a thing? Only ``bash -n`` is run."""

import re
import shlex
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from typer.main import get_command

from headgate.cli.main import app

ROOT = Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
PINS = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
STRANGERS = frozenset(
    {
        *(".", "cat", "cd", "chmod", "cp", "curl", "docker", "echo", "exit", "export", "git", "grep", "head"),
        *("helm", "jq", "jupyter", "kill", "kubectl", "ls", "mkdir", "openssl", "pg_dump", "pg_restore"),
        *("psql", "python", "python3", "rm", "sail", "sleep", "source", "sqlite3", "test", "umask", "wait"),
    }
)
"""Programs that are not of this project; nobody here knows their options."""

_VARIABLE = re.compile(r"^[A-Za-z_]\w*=")
_EXTRA = re.compile(r"^headgate(?:\[([\w,-]+)\])?$")
_PIN = re.compile(r"^([\w.-]+)==([\w.]+)$")
_ENDS = {"&&", "||", "|", ";", "&"}
_INTO = {">", ">>", "<", "2>"}


def commands_of(text: str) -> list[list[str]]:
    """The words of each command of a block, without what is set before it and where its output goes."""
    found: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        command: list[str] = []
        skip = False
        for word in [*lexer, ";"]:
            if word in _ENDS:
                found += [command] if command else []
                command = []
            elif skip or word in _INTO:
                skip = not skip
            elif command or not _VARIABLE.match(word):
                command.append(word)
    return found


def typed_in(session: str) -> str:
    """What somebody types in a session: the lines behind a prompt."""
    return "".join(f"{line[2:]}\n" for line in session.splitlines() if line.startswith("$ "))


def syntax_problem(text: str) -> str:
    """What bash says of a block that it does not run."""
    return subprocess.run(
        ["bash", "-n"], input=text, capture_output=True, text=True, check=False
    ).stderr.strip()


def problem(command: list[str]) -> str:
    """What is wrong with a command, if anything."""
    program, *words = command
    if program.removeprefix(".venv/bin/") == "headgate":
        return headgate_problem(words)
    if program == "make":
        targets = [word for word in words if "=" not in word and not word.startswith("-")]
        return "".join(f"no target {word}; " for word in targets if word not in TARGETS)
    if program.removeprefix(".venv/bin/") == "pip":
        return "".join(filter(None, map(_requirement_problem, words[1:])))
    if program in (".venv/bin/python", "python", "python3") and words[:1] == ["-m"]:
        return "" if find_spec(words[1]) else f"no module {words[1]}"
    if program.startswith((".venv/bin/", "scripts/")):
        return "" if (ROOT / program).exists() else f"no program {program}"
    return "" if program in STRANGERS else f"{program}: what is this?"


def headgate_problem(words: list[str]) -> str:
    """What the command line says of words that it only parses."""
    try:
        parsed_command(words)
    except Exception as exc:
        return f"{type(exc).__name__}: {exc}"
    return ""


def parsed_command(words: list[str]) -> list[str]:
    """The names of the command that the words ask for; raises what a user would be told."""
    command: Any = get_command(app)
    name, parent, path = "headgate", None, list[str]()
    if "--help" in words or "--version" in words:
        words = [word for word in words if word not in ("--help", "--version")]
        if not words:
            return path
    while True:
        context = command.make_context(name, words, parent=parent)
        if not hasattr(command, "resolve_command"):
            return path
        rest = [*context._protected_args, *context.args]
        name, command, words = command.resolve_command(context, rest)
        path.append(name)
        parent = context


def _requirement_problem(word: str) -> str:
    if found := _EXTRA.match(word):
        strange = set((found[1] or "").split(",")) - EXTRAS - {""}
        return f"headgate has no extra {sorted(strange)}; " if strange else ""
    found = _PIN.match(word)
    if found and PINS.get(found[1].replace("-", "_"), PINS.get(found[1], found[2])) != found[2]:
        return f"{word} is not the version of constraints.txt; "
    return ""
