r"""Which files of a clustered table are laid out anew?

Files that were laid out together are a cube, and say so in their tags. A cube that has grown large
enough is left alone for good; whatever is not in one, by the columns that count now, goes into a
new one together with the small ones. So most of a growing table is written once or twice, and not
at every turn.

A table is clustered by ``a`` and ``b.c``. A file that was laid out so has the tags

    {"ZCUBE_ID": "7d1f…", "ZCUBE_ZORDER_BY": "[\"a\",\"b.c\"]", "ZCUBE_ZORDER_CURVE": "hilbert"}

With a wished size of 1 MB a cube of 64 MB is large enough. Of a cube of 70 MB, one of 5 MB and a new file
of 3 MB, the last two make a new cube; of the two cubes alone nothing is done.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from headgate.protocol.actions import AddFile
from headgate.protocol.domains.lifecycle import Column

CLUSTERING_PROVIDER = "liquid"
_CUBE, _COLUMNS, _CURVE = "ZCUBE_ID", "ZCUBE_ZORDER_BY", "ZCUBE_ZORDER_CURVE"
_HILBERT = "hilbert"
FILES_PER_ZCUBE = 64
"""How many files of the wished size make a cube large enough."""


@dataclass(frozen=True, slots=True)
class ZCubeFile:
    """A file, and the cube it is in, if that is one by the present columns."""

    position: int
    size: int
    cube: str | None


def zcube_id(add: AddFile, columns: tuple[Column, ...]) -> str | None:
    """The cube of a file, if it was laid out by just these columns."""
    tags = add.tags or {}
    if add.clustering_provider != CLUSTERING_PROVIDER or tags.get(_COLUMNS) != _render_columns(columns):
        return None
    return tags.get(_CUBE)


def zcube_tags(cube_id: str, columns: tuple[Column, ...]) -> Mapping[str, str]:
    """What a file says of the cube it is in."""
    return {_CUBE: cube_id, _COLUMNS: _render_columns(columns), _CURVE: _HILBERT}


def files_to_recluster(files: Iterable[ZCubeFile], target: int, *, all_of_them: bool = False) -> list[int]:
    """The positions of the files that make a new cube; none if the table is laid out as it should be."""
    members = list(files)
    sizes: dict[str | None, int] = {}
    for member in members:
        sizes[member.cube] = sizes.get(member.cube, 0) + member.size
    if all_of_them:
        return [member.position for member in members]
    small = {name for name, size in sizes.items() if name is None or size < FILES_PER_ZCUBE * target}
    if None not in small and len(small) < 2:
        return []
    return [member.position for member in members if member.cube in small]


def _render_columns(columns: tuple[Column, ...]) -> str:
    return msgspec.json.encode([".".join(column) for column in columns]).decode()
