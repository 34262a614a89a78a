"""What did a client stage? Read from the one place where that can be, whatever the client says (T1, T3)."""

from headgate.catalog.validation.validation import MAX_STAGED_BYTES
from headgate.errors import AccessDenied, InvalidRequest, ObjectNotFound
from headgate.protocol.log import file_names
from headgate.storage import nofollow
from headgate.storage.local import LocalStore
from headgate.storage.store import Store


def read_staged_commit(files: Store, file_name: str) -> bytes:
    """The content of a staged commit of the table with these files; its name was checked before."""
    path = file_names.STAGED_FOLDER + file_name
    try:
        content = (
            nofollow.read_nofollow(files.root, path, most=MAX_STAGED_BYTES)
            if isinstance(files, LocalStore)
            else files.read(path)
        )
    except ObjectNotFound as exc:
        raise InvalidRequest(
            f"the staged commit {file_name!r} does not exist: write it before proposing it"
        ) from exc
    except AccessDenied as exc:
        raise InvalidRequest(f"the staged commit {file_name!r} cannot be read: {exc.message}") from exc
    if len(content) > MAX_STAGED_BYTES:
        raise InvalidRequest(f"the staged commit {file_name!r} is larger than {MAX_STAGED_BYTES} bytes")
    return content
