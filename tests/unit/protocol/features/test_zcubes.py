"""Which files of a clustered table are laid out anew."""

import msgspec
import pytest

from headgate.protocol.features import zcubes
from headgate.protocol.features.zcubes import FILES_PER_ZCUBE, ZCubeFile
from tests.support.attempts import added

LARGE = 10 * FILES_PER_ZCUBE
"""A size that is enough for a cube, if files shall have 10."""
COLUMNS = (("id",), ("address", "city"))


def members(*found: tuple[int, str | None]) -> list[ZCubeFile]:
    return [ZCubeFile(position, size, cube) for position, (size, cube) in enumerate(found)]


@pytest.mark.parametrize(
    ("found", "chosen"),
    [
        ([(5, None)], [0]),
        ([(5, None), (5, None)], [0, 1]),
        ([(5, "a"), (5, "a")], []),
        ([(5, "a"), (5, None)], [0, 1]),
        ([(5, "a"), (5, "b")], [0, 1]),
        ([(LARGE, "a"), (5, "b")], []),
        ([(LARGE, "a"), (5, None), (5, "b")], [1, 2]),
        ([(LARGE - 1, "a"), (1, "a"), (5, None)], [2]),
        ([(LARGE - 1, "a"), (5, None)], [0, 1]),
        ([(LARGE, None)], [0]),
        ([], []),
    ],
)
def test_large_cubes_are_left_alone(found: list[tuple[int, str | None]], chosen: list[int]) -> None:
    assert zcubes.files_to_recluster(members(*found), 10) == chosen


def test_all_of_them_if_asked() -> None:
    assert zcubes.files_to_recluster(members((LARGE, "a"), (5, None)), 10, all_of_them=True) == [0, 1]


def test_a_file_is_in_the_cube_it_says_if_that_is_by_the_same_columns() -> None:
    tagged = msgspec.structs.replace(
        added("a", {}),
        tags=dict(zcubes.zcube_tags("7", COLUMNS)),
        clustering_provider=zcubes.CLUSTERING_PROVIDER,
    )

    assert zcubes.zcube_id(tagged, COLUMNS) == "7"
    assert zcubes.zcube_id(tagged, COLUMNS[:1]) is None
    assert zcubes.zcube_id(msgspec.structs.replace(tagged, clustering_provider=None), COLUMNS) is None
    assert zcubes.zcube_id(added("a", {}), COLUMNS) is None
    assert zcubes.zcube_id(msgspec.structs.replace(tagged, tags=None), COLUMNS) is None


def test_files_say_of_their_cube_what_other_clients_look_for() -> None:
    assert zcubes.zcube_tags("7", COLUMNS) == {
        "ZCUBE_ID": "7",
        "ZCUBE_ZORDER_BY": '["id","address.city"]',
        "ZCUBE_ZORDER_CURVE": "hilbert",
    }
