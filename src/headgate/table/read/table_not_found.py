"""What is said where no Delta table is, though one was expected?"""

from contextlib import suppress
from itertools import islice
from pathlib import Path

from headgate.errors import TableNotFound
from headgate.protocol.log import file_names
from headgate.spelling import did_you_mean
from headgate.storage.location_spelling import is_local, local_path

_MOST_NEIGHBOURS = 1_000


def no_table_at(location: str) -> TableNotFound:
    """The error for a place without a table, with the tables beside it that may be meant, and the way on."""
    folder, _, last = location.rstrip("/").rpartition("/")
    near = did_you_mean(last, _neighbours(location), prefix=f"{folder}/")
    return TableNotFound(
        f"there is no Delta table at {location!r}, whose _delta_log would have a commit:{near} correct the "
        "path, make one there with headgate.at_path(path, columns='id BIGINT, name STRING') or "
        "headgate.write_path(df, path), or of a folder of parquet files with headgate.convert(path). A table "
        "of a lake is opened by its name, headgate.connect(…).table('schema.table')",
        name=location,
    )


def _neighbours(location: str) -> list[str]:
    if not is_local(location):
        return []
    beside: list[str] = []
    with suppress(OSError):
        for folder in islice(Path(local_path(location)).parent.iterdir(), _MOST_NEIGHBOURS):
            if (folder / file_names.LOG_FOLDER).is_dir():
                beside.append(folder.name)
    return beside
