"""Some thousand spoiled requests: nothing unexpected comes back, and no table changes that should not."""

import os
import random

from tests.fuzz.campaign import run_campaign
from tests.fuzz.mutations import mutate
from tests.fuzz.valid_requests import RecordedRequest

BODIES = int(os.environ.get("HEADGATE_FUZZ_BODIES", "3000"))


def test_spoiled_requests_are_answered_and_change_nothing() -> None:
    report = run_campaign(BODIES)

    print(f"{report.sent} bodies to {len(report.routes)} routes: {dict(sorted(report.statuses.items()))}")
    assert not report.failures, "\n".join(report.failures)
    assert report.sent == BODIES
    assert report.grown_kilobytes < 512 * 1024
    assert report.statuses[400] > BODIES // 10


def test_the_same_seed_spoils_in_the_same_way() -> None:
    request = RecordedRequest(
        "POST", "/api/headgate/v1/lakes/main/commits/tail", b'{"table_id": "x", "a": [1, 2]}'
    )

    def spoiled() -> list[RecordedRequest]:
        return [mutate(request, random.Random(number), (request,)) for number in range(200)]

    assert spoiled() == spoiled()
    assert len(set(spoiled())) > 100
