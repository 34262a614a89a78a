"""How does a lake offer what stands above it, such as SQL? By a name that is looked up when it is called.

A face imports the lake, so the lake cannot import it; and whoever never speaks SQL never waits for a parser:

    run = load_face("run_sql")

The rows of ``FACES`` are all there are: with them every import that points up is seen in one place. What
points down, and only comes late, is ``deferred`` instead, which type checkers see.
"""

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

FACES: Mapping[str, str] = MappingProxyType(
    {
        "register": "headgate.registration.registered_lakes:register",
        "unregister": "headgate.registration.registered_lakes:unregister",
        "patch_spark_methods": "headgate.sql.session.spark_patches:patch_spark_methods",
        "run_sql": "headgate.sql.run.run:run",
        "stream_frame": "headgate.data_source.table_frames:stream_frame",
    }
)
"""Where each is: the module, and its name there."""


def load_face(face: str) -> Any:  # what a face is, its caller knows
    """What a higher layer offers as this face."""
    module, _, name = FACES[face].partition(":")
    return getattr(importlib.import_module(module), name)
