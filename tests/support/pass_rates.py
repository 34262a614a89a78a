"""How much of the corpora passes, by tag, at the end of the run; a plugin of the tests that ask for it."""

from collections import defaultdict
from collections.abc import Generator

import pytest

from tests.support.corpora import Corpus

_outcomes: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    table = item.callspec.params.get("table") if hasattr(item, "callspec") else None
    if call.when == "call" and isinstance(table, Corpus):
        for tag in ("all", *table.features):
            _outcomes[item.path.stem.removeprefix("test_corpora_")][tag].append(report.passed)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, tags in _outcomes.items():
        terminalreporter.section(f"corpora, {name}: passed of all, by tag")
        rates = [f"{tag} {sum(outcomes)}/{len(outcomes)}" for tag, outcomes in sorted(tags.items())]
        for start in range(0, len(rates), 4):
            terminalreporter.write_line("".join(f"{rate:32}" for rate in rates[start : start + 4]).rstrip())
