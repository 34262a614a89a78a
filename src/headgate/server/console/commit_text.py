"""How does text become a commit that can be rehearsed? Actions line by line, stamped as a writer would.

    {"add":{"path":"a.parquet",…}}     becomes     {"commitInfo":{"inCommitTimestamp":…,"txnId":…}}
                                                   {"add":{"path":"a.parquet",…}}

A ``commitInfo`` that is there keeps what it says, its transaction too, but for its time. What is no JSON
stays as it is: the catalog has words of its own for it.
"""

import json
from dataclasses import dataclass
from typing import Any

from headgate.catalog.ports.commits import InlineCommit, Proposal, TableId, Tail
from headgate.clock import World
from headgate.errors import InvalidRequest
from headgate.protocol.actions import TxnId, Version

LONGEST_TEXT = 64 * 1024


@dataclass(frozen=True, slots=True)
class RehearsedCommit:
    """What is rehearsed, and for each of its lines the one of the text, None for one that was put there."""

    proposal: Proposal
    lines: tuple[int | None, ...]


def rehearsed_commit(text: str, table_id: TableId, tail: Tail, world: World) -> RehearsedCommit:
    """The proposal to make the actions of a text the next version of a table."""
    numbered = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = [line for _, line in numbered]
    if not lines:
        raise InvalidRequest("there is no commit to rehearse: write its actions, one a line")
    stamp = max(world.now_ms(), (tail.latest_timestamp or 0) + 1)
    info = _commit_info(lines[0])
    said = {} if info is None else info
    txn_id = str(said.get("txnId") or world.uuid())
    stamped = {"operation": "REHEARSAL", **said, "inCommitTimestamp": stamp, "txnId": txn_id}
    rest = lines if info is None else lines[1:]
    content = "\n".join([json.dumps({"commitInfo": stamped}), *rest])
    proposal = Proposal(
        table_id, Version(tail.latest + 1), TxnId(txn_id), InlineCommit(content.encode("utf-8", "replace"))
    )
    places = [at for at, _ in numbered]
    return RehearsedCommit(proposal, (None, *places) if info is None else tuple(places))


def _commit_info(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    info = found.get("commitInfo") if isinstance(found, dict) else None
    return info if isinstance(info, dict) else None
