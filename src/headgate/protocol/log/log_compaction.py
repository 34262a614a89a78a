"""What several consecutive commits come to, for readers that need not know each of them."""

from collections.abc import Iterable, Iterator

from headgate.errors import CorruptLog
from headgate.protocol import file_key
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    Commit,
    DomainMetadata,
    RemoveFile,
    Version,
)
from headgate.protocol.file_key import FileKey
from headgate.protocol.log import codec


def reconcile(commits: Iterable[Commit]) -> Iterator[Action]:
    """The actions that stand for ``commits``, oldest first, in a file that replaces them.

    Removed files and removed domains stay, because they undo what came before the first commit.
    What a commit says of itself, and the files with changed rows, do not.
    """
    small: dict[object, Action] = {}
    files: dict[FileKey, AddFile | RemoveFile] = {}
    for commit in commits:
        for action in (commit.protocol, commit.metadata):
            if action is not None:
                small[type(action)] = action
        for txn in commit.txns:
            small[AppTransaction, txn.app_id] = txn
        for domain in commit.domains:
            small[DomainMetadata, domain.domain] = domain
        both: tuple[AddFile | RemoveFile, ...] = (*commit.removes, *commit.adds)
        for file in both:
            files.pop(file_key.file_key(file), None)  # so that it comes after what was there before
            files[file_key.file_key(file)] = file
    yield from small.values()
    yield from files.values()


def is_reconciled(version: Version, content: bytes) -> bool:
    """Whether these bytes can stand for the commits up to a version: they say one thing of each.

    What they say twice has an order that only the commits know.
    """
    try:
        keys = [_key(action) for action in codec.decode_changes(version, content)]
    except CorruptLog:
        return False
    return len(set(keys)) == len(keys)


def _key(action: Action) -> object:
    match action:
        case AddFile() | RemoveFile():
            return file_key.file_key(action)
        case AppTransaction():
            return AppTransaction, action.app_id
        case DomainMetadata():
            return DomainMetadata, action.domain
        case _:
            return type(action)
