"""Which numbers may an address of the console have? Those that pages, places and versions can have."""

from typing import Annotated

from litestar.params import QueryParameter

_LARGEST = 2**53 - 1
"""The largest number that a script has exactly; with what a page adds to it, a database has it too."""

PageNumber = Annotated[int, QueryParameter(ge=1, le=_LARGEST // 1000)]
"""Which page of a list, from 1 on."""
Before = Annotated[int | None, QueryParameter(ge=1, le=_LARGEST)]
"""Only what is before this place in the order, or before this version."""
AskedVersion = Annotated[int | None, QueryParameter(ge=0, le=_LARGEST)]
"""A version of a table."""
