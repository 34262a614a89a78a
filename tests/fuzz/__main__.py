"""``python -m tests.fuzz``: a long campaign; ends with 1 if something came back that should not."""

import argparse
import logging
import sys

from tests.fuzz.campaign import run_campaign, timed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--bodies", type=int, default=1_000_000, help="how many requests to send")
    parser.add_argument("--seed", type=int, default=0, help="another campaign for another number")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="no answer takes longer whenever it is asked for"
    )
    parser.add_argument("--megabytes", type=int, default=512, help="by how much the process may grow")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    with timed() as took:
        report = run_campaign(asked.bodies, seed=asked.seed, seconds=asked.seconds)
    for failure in report.failures:
        print(failure)
    print(f"{report.sent:,} bodies to {len(report.routes)} routes in {took[0]:,.0f} s, seed {asked.seed}")
    print(f"statuses: {dict(sorted(report.statuses.items()))}")
    print(f"slowest {report.slowest:.2f} s, grown by {report.grown_kilobytes // 1024} MB")
    return 1 if report.failures or report.grown_kilobytes > asked.megabytes * 1024 else 0


if __name__ == "__main__":
    sys.exit(main())
