"""``headgate completion``: what has a shell complete commands, options and names of tables."""

from enum import Enum
from typing import Annotated

import typer

from headgate.cli.completion import shell_scripts
from headgate.cli.completion.variable import COMPLETE_VARIABLE


class Shell(Enum):
    """A shell that completes."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def print_completion(
    shell: Annotated[Shell, typer.Argument(help="The shell.")],
) -> None:
    """Print what has a shell complete commands and names.

    In ~/.bashrc: eval "$(headgate completion bash)"
    """
    typer.echo(shell_scripts.completion_script(shell.value, "headgate", COMPLETE_VARIABLE))
