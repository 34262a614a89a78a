"""What the check says of a breach: its rule's words, and a repair only where there is one."""

import msgspec
import pytest

from headgate.protocol import integrity_findings
from headgate.protocol.integrity_findings import BY_NAME, DEFECTS, Finding, Severity


def test_a_finding_says_what_its_rule_does() -> None:
    found = integrity_findings.new_finding("removed-absent", "version 7", "part-1 is removed", version=7)

    assert found == Finding(
        rule="removed-absent", invariant="I9", severity=Severity.WARNING, where="version 7",
        explanation="part-1 is removed", remedy="nothing must be done", version=7, repairable=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "repairable", "remedy"),
    [
        ("pointer-lags", True, "run the check with repair: it is written anew"),
        ("pointer-lags", False, "nothing must be done: the next checkpoint corrects it"),
        ("orphans", True, "VACUUM deletes them in time"),
        ("orphans", False, "VACUUM deletes them in time"),
    ],
)
def test_a_repair_is_advised_where_it_can_be_done(rule: str, repairable: bool, remedy: str) -> None:
    found = integrity_findings.new_finding(rule, "the log", "so it is", repairable=repairable)

    assert (found.remedy, found.repairable) == (remedy, repairable)


def test_what_is_not_said_is_left_out_of_the_json() -> None:
    usual = {"rule", "invariant", "severity", "where", "explanation", "remedy"}
    plain = integrity_findings.new_finding("log-gap", "version 3", "it is missing")
    more = integrity_findings.new_finding("pointer-lags", "the log", "so it is", version=0, repairable=True)

    assert msgspec.to_builtins(plain).keys() == usual
    assert msgspec.to_builtins(more).keys() == usual | {"version", "repairable"}
    assert msgspec.json.decode(msgspec.json.encode(plain), type=Finding) == plain
    assert msgspec.json.decode(msgspec.json.encode(more), type=Finding) == more


def test_no_two_rules_have_a_name() -> None:
    assert list(BY_NAME.values()) == list(DEFECTS)
    with pytest.raises(KeyError):
        integrity_findings.new_finding("no-such-rule", "here", "it is")
