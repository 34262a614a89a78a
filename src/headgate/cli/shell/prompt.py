"""How does a person talk to the shell? Line by line, with history and completion, until Ctrl-D or ``\\q``."""

from collections.abc import Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from typing_extensions import override

from headgate.cli import console
from headgate.cli.shell.entries import EntryReader, is_complete
from headgate.cli.shell.history_file import usable_history
from headgate.cli.shell.names import LakeNames
from headgate.cli.shell.shell import EntryOutcome, SqlShell
from headgate.cli.shell.suggestions import suggest
from headgate.cli.visible_text import visible_line

_PROMPT, _IN_TRANSACTION, _GOES_ON = "headgate=> ", "headgate*=> ", "headgate-> "


class NameCompleter(Completer):
    """Completes names of the lake, words of SQL and commands."""

    def __init__(self, names: LakeNames) -> None:
        self._names = names

    @override
    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        for found in suggest(document.text_before_cursor, self._names):
            yield Completion(
                found.text,
                start_position=-found.replaces,
                display=visible_line(found.text),
                display_meta=found.kind,
            )


def talk(shell: SqlShell) -> None:
    """Run what is typed until whoever types leaves."""
    session = _session(shell.names)
    console.out().print(f"{shell.opened.place}: end statements with ;  \\? lists commands, \\q leaves")
    while True:
        try:
            text = session.prompt(_IN_TRANSACTION if shell.engine.is_in_transaction else _PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if _run_typed(shell, text) is EntryOutcome.LEAVE:
            return


def _run_typed(shell: SqlShell, text: str) -> EntryOutcome:
    for entry in EntryReader().feed(text):
        outcome = shell.run(entry)
        if outcome is EntryOutcome.CANCELLED:
            console.out().print("cancelled")
        if outcome is not EntryOutcome.DONE:
            return outcome
    return EntryOutcome.DONE


def _session(names: LakeNames) -> PromptSession[str]:
    path = usable_history()
    return PromptSession(
        history=InMemoryHistory() if path is None else FileHistory(str(path)),
        completer=NameCompleter(names),
        complete_while_typing=False,
        key_bindings=_bindings(),
        multiline=True,
        prompt_continuation=lambda width, _, __: _GOES_ON.rjust(width),
    )


def _bindings() -> KeyBindings:
    """Enter ends what is complete, and begins a new line in what is not."""
    bindings = KeyBindings()

    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    bindings.add("enter")(enter)
    return bindings
