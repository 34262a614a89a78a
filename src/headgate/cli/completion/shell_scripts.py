"""What does a shell run to complete a word? A script of typer's, which asks the command itself."""

from typer.completion import get_completion_script  # type: ignore[attr-defined]  # not in its __all__


def completion_script(shell: str, program: str) -> str:
    """The script for a shell, in which the command has this name."""
    variable = f"_{program.replace('-', '_').upper()}_COMPLETE"
    return get_completion_script(prog_name=program, complete_var=variable, shell=shell)
