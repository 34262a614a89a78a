"""A client of the Delta API in a process of its own, which races others and writes down what it saw.

    python -m tests.support.delta_api_worker <address> <table> <uuid> <location> <commits>

Every other request is sent twice, as clients do that lost an answer.
"""

import json
import sys
import time

from tests.support.delta_api import DeltaApi, DeltaTable, publish_file, stage_file


def main(url: str, name: str, uuid: str, location: str, commits: str) -> None:
    table = DeltaTable(DeltaApi(url), name, uuid, location)
    done = 0
    while done < int(commits):
        began = time.monotonic()
        loaded = table.load()
        latest = loaded["latest-table-version"]
        note("load", began, version=latest)
        newest = max([commit["timestamp"] for commit in loaded["commits"]], default=0)
        staged = stage_file(location, latest + 1, stamp=max(newest + 1, time.time_ns() // 1_000_000 + latest))
        began = time.monotonic()
        answers = [table.update(staged.update) for _ in range(1 + done % 2)]
        statuses = {answered.status_code for answered in answers}
        if statuses == {200}:
            note("commit", began, version=latest + 1, file=staged.file_name)
            done += 1
            if done % 3 == 0:
                publish_file(location, staged)
        else:
            note("lost", began, version=latest + 1, file=staged.file_name, statuses=sorted(statuses))


def note(what: str, began: float, **facts: object) -> None:
    print(json.dumps({"what": what, "began": began, "ended": time.monotonic(), **facts}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
