"""What would become of a commit is what becomes of it, and to ask changes nothing."""

from collections.abc import Callable, Mapping
from itertools import product

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import Proposal, Ratified
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.policies import CommitPolicy, Refusal, RehearsesCommits, Review
from headgate.errors import CommitRefused, HeadgateError, TableNotFound, UserError
from headgate.protocol.actions import CommitInfo, TxnId
from headgate.protocol.log import codec
from headgate.storage.locate import locate
from tests.support.proposals import altered, content, fresh, inline, staged, stamp
from tests.support.tables import create_managed

CATALOGS = ("sqlite", "postgresql")
"""Consoles are served where the catalog is; no client asks for a rehearsal."""


@pytest.fixture
def table(catalog: Catalog) -> StagingTable:
    made = create_managed(catalog, TableName("sales", "orders"))
    catalog.granting.grant("APPEND", "sales.orders", "ana")
    catalog.granting.grant("READ", "sales.orders", "bob")
    return made


class NoCommits:
    def review(self, review: Review) -> Refusal | None:
        return review.refuse("it is Friday")


def no_commits() -> Mapping[str, CommitPolicy]:
    return {"no-commits": NoCommits()}


def a_plain_append(table: StagingTable, txn_id: str = "t") -> Proposal:
    return inline(table.table_id, 1, txn_id)


def a_staged_append(table: StagingTable, txn_id: str = "t") -> Proposal:
    return staged(table.table_id, 1, txn_id, locate(table.location))


def an_append_of_new_files(table: StagingTable, txn_id: str = "t") -> Proposal:
    return fresh(table.table_id, 1, txn_id)


def a_version_of_long_ago(table: StagingTable, txn_id: str = "t") -> Proposal:
    return inline(table.table_id, 1, txn_id, data=b'{"commitInfo":{"inCommitTimestamp":1}}')


def nonsense(table: StagingTable, txn_id: str = "t") -> Proposal:
    return inline(table.table_id, 1, txn_id, data=b"no json")


def a_commit_of_an_other_transaction(table: StagingTable, txn_id: str = "t") -> Proposal:
    return inline(table.table_id, 1, txn_id, data=content(1, "other"))


PROPOSALS: tuple[Callable[[StagingTable, str], Proposal], ...] = (
    a_plain_append, a_staged_append, an_append_of_new_files, a_version_of_long_ago, nonsense,
    a_commit_of_an_other_transaction,
)  # fmt: skip


def test_what_is_foretold_is_what_happens(catalog: Catalog) -> None:
    catalog.granting.grant("APPEND", None, "ana")
    catalog.granting.grant("READ", None, "bob")
    wrong = []
    for number, (who, propose) in enumerate(product(("owner", "ana", "bob"), PROPOSALS)):
        proposal = propose(create_managed(catalog, TableName("sales", f"t{number}")), f"t{number}")
        foretold = catalog.acting_as(who).rehearsals.rehearse(proposal)
        if _what_happens(catalog.acting_as(who), proposal) != (foretold and foretold.message):
            wrong.append((who, propose.__name__, foretold))

    assert wrong == []


def test_a_version_that_is_taken_is_said_to_be(catalog: Catalog, table: StagingTable) -> None:
    catalog.propose(a_plain_append(table))

    found = catalog.rehearsals.rehearse(a_staged_append(table, "another"))
    assert found is not None and "rehearse the commit as version 2" in found.message


def test_to_ask_changes_nothing_and_tells_nobody(catalog: Catalog, table: StagingTable) -> None:
    before, events = catalog.tail(table.table_id), catalog.events.newest()

    for propose in PROPOSALS:
        catalog.acting_as("bob").rehearsals.rehearse(propose(table, "t"))
        catalog.rehearsals.rehearse(propose(table, "t"))

    assert isinstance(catalog, RehearsesCommits)
    assert catalog.tail(table.table_id) == before
    assert catalog.events.newest() == events


def test_rules_and_policies_are_asked(catalog: Catalog, table: StagingTable) -> None:
    catalog.granting.set_rule("freeze_metadata", "true", "sales")
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId("t"))
    changed = codec.encode((info, altered(locate(table.location), a_b="c")))
    frozen = inline(table.table_id, 1, "t", data=changed)

    refusals = [
        catalog.rehearsals.rehearse(frozen),
        catalog.acting_as("owner", policies=no_commits).rehearsals.rehearse(a_plain_append(table)),
    ]

    assert [_policy(each) for each in refusals] == ["metadata-protection", "no-commits"]
    assert catalog.rehearsals.rules(table.table_id) == {"freeze_metadata": "true"}


def test_a_hidden_table_is_not_there(catalog: Catalog, table: StagingTable) -> None:
    eve = catalog.acting_as("eve").rehearsals

    with pytest.raises(TableNotFound):
        eve.rehearse(a_plain_append(table))
    with pytest.raises(TableNotFound):
        eve.rules(table.table_id)


def _what_happens(catalog: Catalog, proposal: Proposal) -> str | None:
    try:
        assert isinstance(catalog.propose(proposal), Ratified)
    except UserError as exc:
        return exc.message
    return None


def _policy(found: HeadgateError | None) -> object:
    assert isinstance(found, CommitRefused)
    return found.fields.get("policy")
