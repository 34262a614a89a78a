"""Who may write is asked before what they write, and nothing they write is matched for long."""

import pytest
from sqlalchemy import update

from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.commits import Proposal, Ratified, StagedCommit
from headgate.catalog.store import commit_rules
from headgate.errors import InvalidRequest
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from headgate.protocol.schema.types import Field, Primitive
from tests.support.broken_commits import ID, WRITER, columns, with_properties
from tests.support.governed import ADD, Place, place, shared
from tests.support.proposals import inline

__all__ = ["place", "shared"]

READER = f"only {Privilege.READ.value}"
APPENDER = f"only {Privilege.APPEND.value}"


def test_nothing_is_parsed_of_who_may_not_write(place: Place) -> None:
    version = place.catalog.tail(place.table_id).latest + 1
    garbage = inline(place.table_id, version, "t", data=b"{" * 10_000)

    with place.refuses("privileges"):
        place.catalog.acting_as(READER).propose(garbage)
    with pytest.raises(InvalidRequest, match="ndjson"):
        place.catalog.acting_as(APPENDER).propose(garbage)


def test_nothing_is_read_of_who_may_not_write(place: Place) -> None:
    version = Version(place.catalog.tail(place.table_id).latest + 1)
    absent = StagedCommit(file_names.staged_file_name(version, "00000000-0000-4000-8000-000000000000"))

    with place.refuses("privileges"):
        place.catalog.acting_as(READER).propose(Proposal(place.table_id, version, TxnId("t"), absent))


def test_what_a_principal_may_is_asked_before_what_the_table_allows(place: Place) -> None:
    another = with_properties(place.told().metadata, fs_s3a_secret_key="x")

    with place.refuses("privileges", line=2):
        place.propose(another, by=APPENDER)


def test_who_may_no_longer_write_still_hears_what_was_ratified(place: Place) -> None:
    place.grant("ana", Privilege.APPEND)
    version = place.catalog.tail(place.table_id).latest + 1
    first = place.propose(ADD, by="ana")
    place.catalog.granting.revoke(Privilege.APPEND, place.name, "ana")

    txn_id = f"{place.table_id} ana {version}"
    again = place.catalog.acting_as("ana").propose(inline(place.table_id, version, txn_id))
    assert first == again == Ratified(Version(version))
    with place.hidden():
        place.propose(ADD, by="ana")


def test_a_pattern_that_cannot_be_used_is_named(place: Place) -> None:
    """One that was set by an older release, whose engine knows more and may take for ever."""
    place.catalog.granting.set_rule("column_names", "[a-z]+", place.name)
    rules = commit_rules.commit_rules
    with place.catalog._database.writing() as db:
        db.execute(update(rules).where(rules.c.object == place.table_id).values(value="(?=a)+"))

    with place.refuses("column-names"):
        place.propose(columns(place.told().metadata, ID, WRITER, Field("new", Primitive("long"))))
    assert isinstance(place.propose(ADD), Ratified)
