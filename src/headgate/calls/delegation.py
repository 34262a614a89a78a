"""How does an object offer the calls of its parts as calls of its own? One line each, with nothing lost.

    def _access(lake: "Lake") -> LakeAccess:
        return lake._access

    class Lake:
        grant = delegate(_access, LakeAccess.grant)

``lake.grant(…)`` is then ``lake._access.grant(…)``, and has its signature, its types and its docstring: for
``help``, for type checkers and for the boundary, which reads the annotations.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Part = TypeVar("Part")
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def delegate(
    part: Callable[[Owner], Part], method: Callable[Concatenate[Part, Arguments], Returned]
) -> Callable[Concatenate[Owner, Arguments], Returned]:
    """A method of the owner that is a method of its part."""

    @wraps(method)
    def call(owner: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        return method(part(owner), *args, **kwargs)

    return call
