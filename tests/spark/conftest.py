"""What tests on Spark share besides the session: a lake of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import headgate
from headgate import Lake


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """A new lake with the schema ``s``."""
    with headgate.connect(tmp_path / "lake") as opened:
        opened.create_schema("s")
        yield opened
