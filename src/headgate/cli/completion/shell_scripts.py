"""What does a shell run to complete a word? A script of typer's, which asks the command itself.

The script sets a variable, and what the command prints then are the words that fit.
"""

from typer.completion import (  # type: ignore[attr-defined]  # they are not in its __all__
    completion_init,
    get_completion_script,
)


def completion_script(shell: str, program: str, variable: str) -> str:
    """The script for a shell, in which the command has this name and is asked by this variable."""
    return get_completion_script(prog_name=program, complete_var=variable, shell=shell)


def register_shells() -> None:
    """Have the command answer the scripts of all shells."""
    completion_init()
