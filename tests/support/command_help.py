"""Which flags does a command of the command line take? Asked of the command itself."""

import re

from typer.testing import CliRunner

from headgate.cli.main import app


def flags(*command: str) -> frozenset[str]:
    """Every long flag that its help names."""
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert shown.exit_code == 0, shown.output
    return frozenset(re.findall(r"--[a-z][a-z-]*", shown.output))
