"""What is common to all that commands print as JSON?"""

import msgspec


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys are Delta's own where Delta has one; they are never renamed, only added to."""
