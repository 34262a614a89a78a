"""What statements are in a file?"""

from pathlib import Path

from headgate.cli.exit_codes import FILE_NOT_FOUND
from headgate.errors import InvalidRequest


def read_script(path: Path) -> str:
    """The text of a file; ``InvalidRequest`` if there is none, or it cannot be read."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError as exc:
        raise InvalidRequest(f"there is no file {str(path)!r}: name another", code=FILE_NOT_FOUND) from exc
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise InvalidRequest(f"the file {str(path)!r} cannot be read: {why}; name another") from exc
