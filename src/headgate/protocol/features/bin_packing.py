"""Which files of a table are put together into larger ones?

Files of one partition, smallest first, as many as make up one of the wished size. A file that is
large enough stays, unless too many of its rows are deleted: then it is worth a rewrite by itself.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from headgate.protocol.actions import Metadata

TARGET_FILE_SIZE = "delta.targetFileSize"
_DEFAULT_BYTES = 256 * 1024 * 1024
_UNITS = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}
_MOST_HIDDEN = 0.05


@dataclass(frozen=True, slots=True)
class PackableFile:
    """A file that may be put together with others of its partition."""

    position: int
    size: int
    partition: Hashable
    hidden: float = 0.0
    """The share of its rows that are deleted."""


def target_file_size(metadata: Metadata) -> int:
    """How large files shall be."""
    text = metadata.configuration.get(TARGET_FILE_SIZE, "").strip().lower()
    number = text.rstrip("kmgtb")
    if not number.isdecimal():
        return _DEFAULT_BYTES
    unit = text[len(number) :]
    return int(number) * _UNITS.get(unit if unit.endswith("b") else f"{unit}b", 0) or _DEFAULT_BYTES


def pack_files(files: Iterable[PackableFile], target: int) -> list[list[int]]:
    """The positions of files that become one each; a bin of one file has deleted rows to be rid of."""
    by_partition: dict[Hashable, list[PackableFile]] = {}
    for file in files:
        if file.size < target or file.hidden > _MOST_HIDDEN:
            by_partition.setdefault(file.partition, []).append(file)
    return [
        [file.position for file in chosen]
        for some in by_partition.values()
        for chosen in _fill_bins(sorted(some, key=lambda file: (file.size, file.position)), target)
        if len(chosen) > 1 or chosen[0].hidden > _MOST_HIDDEN
    ]


def partition_keys(partitions: Sequence[Mapping[str, str | None]]) -> list[Hashable]:
    """What tells the partitions of files apart."""
    return [frozenset(values.items()) for values in partitions]


def _fill_bins(files: Sequence[PackableFile], target: int) -> Iterable[list[PackableFile]]:
    chosen: list[PackableFile] = []
    size = 0
    for file in files:
        if chosen and size + file.size > target:
            yield chosen
            chosen, size = [], 0
        chosen.append(file)
        size += file.size
    if chosen:
        yield chosen
