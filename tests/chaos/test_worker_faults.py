"""A worker that loses any one of its calls to the store: before it is performed, or after."""

import os
import shutil
from itertools import count
from pathlib import Path

import pytest

from tests.unit.table.maintenance import test_worker

pytestmark = pytest.mark.skipif(
    "HEADGATE_CHAOS_ROUNDS" not in os.environ, reason="make chaos loses every call, make test some of them"
)


@pytest.mark.parametrize("performed", [False, True], ids=["lost on its way", "answer lost"])
def test_whichever_call_fails_the_next_round_finishes(tmp_path: Path, performed: bool) -> None:
    test_worker.model(tmp_path / "model")
    for number in count(1):
        place = tmp_path / str(number)
        shutil.copytree(tmp_path / "model", place)
        if not test_worker.survives(place, number, performed=performed):
            break
        shutil.rmtree(place)

    assert number > 40
