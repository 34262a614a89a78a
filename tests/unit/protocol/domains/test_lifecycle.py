"""Metadata domains across REPLACE, RESTORE, CLONE and the end of the feature."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import InvalidRequest
from headgate.protocol.actions import DomainMetadata, Protocol
from headgate.protocol.domains import lifecycle, rules
from headgate.protocol.domains.lifecycle import CLUSTERING_DOMAIN, clustering_domain

Live = dict[str, DomainMetadata]


def domain(name: str, configuration: str = "", *, removed: bool = False) -> DomainMetadata:
    return DomainMetadata(domain=name, configuration=configuration, removed=removed)


def live(*actions: DomainMetadata) -> Live:
    return rules.apply_domain_actions({}, actions)


def protocol(*features: str) -> Protocol:
    return Protocol(min_reader_version=1, min_writer_version=7, writer_features=features)


BY_ID, BY_NAME, BY_NOTHING = (
    clustering_domain([("id",)]),
    clustering_domain([("name",)]),
    clustering_domain([]),
)


def test_s203_replace_keeps_one_overwrites_one_and_adds_one() -> None:
    before = live(domain("domain1", "1"), domain("domain2", "2"))
    new = [domain("domain2", "new"), domain("domain3", "3")]

    written = lifecycle.domains_after_replace(before, new)

    assert written == tuple(new)
    assert rules.apply_domain_actions(before, written) == live(domain("domain1", "1"), *new)


def test_s202_replace_keeps_system_domains_nobody_knows() -> None:
    before = live(domain("delta.fromTheFuture", "?"), BY_ID)

    after = rules.apply_domain_actions(before, lifecycle.domains_after_replace(before, []))

    assert after["delta.fromTheFuture"] == domain("delta.fromTheFuture", "?")


def test_s205_replacing_a_clustered_table_leaves_an_empty_list() -> None:
    assert lifecycle.domains_after_replace(live(BY_ID), []) == (BY_NOTHING,)
    assert BY_NOTHING.configuration == '{"clusteringColumns":[],"domainName":"delta.clustering"}'


def test_s205_clustering_is_not_ended_twice_nor_invented() -> None:
    assert lifecycle.domains_after_replace(live(BY_NOTHING), []) == ()
    assert lifecycle.domains_after_replace({}, []) == ()
    assert lifecycle.domains_after_replace(live(BY_ID), [BY_NAME]) == (BY_NAME,)


def test_replace_removes_what_the_user_asks_it_to() -> None:
    before = live(domain("acme.a", "1"), domain("acme.b", "2"))

    written = lifecycle.domains_after_replace(
        before, [domain("acme.b", "3")], remove=["acme.a", "acme.b", "acme.unknown"]
    )

    assert written == (domain("acme.a", "1", removed=True), domain("acme.b", "3"))


def test_a_clustering_that_a_winner_added_ends_with_the_replace() -> None:
    """P30"""
    after_the_winner = rules.apply_domain_actions({}, [BY_ID])

    assert lifecycle.domains_after_replace(after_the_winner, []) == (BY_NOTHING,)


@pytest.mark.parametrize(
    ("now", "then", "written"),
    [
        (BY_ID, BY_NAME, (BY_NAME,)),
        (BY_ID, BY_ID, ()),
        (BY_ID, None, (BY_NOTHING,)),
        (BY_NOTHING, None, ()),
        (None, BY_ID, (BY_ID,)),
        (None, None, ()),
    ],
)
def test_s207_restore_brings_back_the_clustering_of_its_version(
    now: DomainMetadata | None, then: DomainMetadata | None, written: tuple[DomainMetadata, ...]
) -> None:
    present = live(domain("acme.a", "now"), *([now] if now else []))
    target = live(domain("acme.a", "then"), domain("acme.gone"), *([then] if then else []))

    assert lifecycle.domains_after_restore(present, target) == written


COLUMNS = st.lists(st.tuples(st.sampled_from("abc")), max_size=2, unique=True)
UNCLUSTERED: st.SearchStrategy[Live] = st.just({})
TABLES = UNCLUSTERED | COLUMNS.map(lambda columns: live(clustering_domain(columns)))


@given(TABLES, TABLES)
def test_s207_after_a_restore_the_clustering_is_that_of_the_target(now: Live, then: Live) -> None:
    """P31"""
    after = rules.apply_domain_actions(now, lifecycle.domains_after_restore(now, then))

    assert lifecycle.clustering_columns(after) == lifecycle.clustering_columns(then)


@given(TABLES, TABLES, st.booleans())
def test_s208_after_a_clone_the_clustering_is_that_of_the_source(now: Live, source: Live, kept: bool) -> None:
    features = (
        ("domainMetadata", "clustering") if kept or CLUSTERING_DOMAIN in source else ("domainMetadata",)
    )

    after = rules.apply_domain_actions(
        now, lifecycle.domains_after_clone(now, source, protocol=protocol(*features))
    )

    assert lifecycle.clustering_columns(after) == lifecycle.clustering_columns(source)
    if "clustering" not in features:
        assert CLUSTERING_DOMAIN not in after


def test_s208_a_clone_copies_clustering_and_nothing_else() -> None:
    source = live(BY_ID, domain("acme.a", "source"), domain("delta.rowTracking", "{}"))
    target = live(BY_NAME, domain("acme.a", "target"))

    assert lifecycle.domains_after_clone(target, source, protocol=protocol("clustering")) == (BY_ID,)
    assert lifecycle.domains_after_clone(target, source, protocol=protocol()) == (BY_ID,)
    assert lifecycle.domains_after_clone(target, {}, protocol=protocol("clustering")) == (BY_NOTHING,)
    assert lifecycle.domains_after_clone(target, {}, protocol=protocol()) == (
        rules.domain_tombstone(BY_NAME),
    )


def test_s209_an_append_may_restate_the_clustering_but_not_change_it() -> None:
    lifecycle.check_same_clustering(live(BY_ID), [("id",)])
    lifecycle.check_same_clustering({}, [])

    with pytest.raises(
        InvalidRequest, match=r"clustered by id, and only a write that .* can change that to name"
    ) as caught:
        lifecycle.check_same_clustering(live(BY_ID), [("name",)])
    assert caught.value.code == "DELTA_CLUSTERING_COLUMNS_MISMATCH"
    with pytest.raises(InvalidRequest, match="clustered by no columns"):
        lifecycle.check_same_clustering({}, [("id",)])


@pytest.mark.parametrize("listed", ['["id","x.y"]', '[["id"],["x.y"]]'], ids=["flat", "nested"])
def test_both_spellings_of_clustering_columns_are_read_and_the_nested_one_is_written(listed: str) -> None:
    """P38"""
    found = lifecycle.clustering_columns(live(domain(CLUSTERING_DOMAIN, f'{{"clusteringColumns":{listed}}}')))

    assert found == (("id",), ("x.y",))
    assert '[["id"],["x.y"]]' in clustering_domain(found).configuration


@pytest.mark.parametrize("needing", ["rowTracking", "clustering"])
def test_s211_the_feature_stays_while_another_needs_it(needing: str) -> None:
    with pytest.raises(InvalidRequest, match=f"while the table has {needing}") as caught:
        lifecycle.removals_before_feature_drop(protocol("domainMetadata", needing), {})

    assert caught.value.code == "DELTA_FEATURE_DROP_DEPENDENT_FEATURE"


def test_s211_leaked_domains_are_removed_before_the_feature() -> None:
    leaked = live(domain("delta.rowTracking", "{}"), domain("acme.a", "1"))

    written = lifecycle.removals_before_feature_drop(protocol("domainMetadata"), leaked)

    assert rules.apply_domain_actions(leaked, written) == {}
    assert lifecycle.removals_before_feature_drop(protocol("domainMetadata"), {}) == ()
