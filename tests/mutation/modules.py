"""Which tests concern which module: data for the runs, the quickest and most telling files first."""

_CONFLICTS = ("tests/scenarios/test_conflicts.py",)
_REBASE = ("tests/unit/test_rebase.py", *_CONFLICTS)
_ATTEMPT = ("tests/unit/test_attempt.py",)
_LOOP = ("tests/unit/test_commit.py",)
_ROWS = ("tests/unit/test_row_tracking.py",)
_ORDERS = ("tests/unit/test_serial_orders.py",)
_DOMAINS = (
    "tests/unit/test_domains.py", "tests/unit/test_domain_handlers.py", "tests/unit/test_domain_lifecycle.py",
)  # fmt: skip
_ALTERED = ("tests/unit/test_alter.py",)
_COMMITTERS = ("tests/contract/test_committer.py",)
_COORDINATED = (
    "tests/unit/test_coordinated_committer.py", "tests/unit/test_coordinated.py",
    "tests/unit/test_coordinated_writers.py",
)  # fmt: skip

TESTS: dict[str, tuple[str, ...]] = {
    "protocol.conflicts": (*_CONFLICTS, "tests/unit/test_rebase.py"),
    "protocol.read_checks": ("tests/unit/test_transactions.py",),
    "protocol.file_conflicts": (*_CONFLICTS, *_ORDERS, "tests/unit/test_rebase.py"),
    "protocol.rebase": (*_ATTEMPT, *_REBASE, *_ROWS, "tests/unit/test_commit_checks.py", *_DOMAINS, *_LOOP),
    "protocol.row_conflicts": (*_CONFLICTS, "tests/unit/test_row_level_conflicts.py"),
    "protocol.whole_matches": ("tests/unit/test_whole_matches.py",),
    "protocol.race": (*_CONFLICTS, "tests/unit/test_rebase.py"),
    "protocol.attempt": (*_ATTEMPT, *_REBASE, "tests/unit/test_isolation.py", *_ROWS, *_LOOP),
    "protocol.isolation": ("tests/unit/test_isolation.py", *_CONFLICTS),
    "protocol.row_tracking": (*_ROWS, *_CONFLICTS),
    "protocol.stamping": (*_REBASE, "tests/unit/test_timestamps.py", "tests/unit/test_create.py", *_ALTERED),
    "protocol.backfill": (*_CONFLICTS, *_ROWS),
    "protocol.type_changes": ("tests/unit/test_type_changes.py", "tests/unit/test_rebase.py"),
    "protocol.commit_checks": ("tests/unit/test_commit_checks.py", *_REBASE),
    "protocol.metadata_changes": ("tests/unit/test_metadata_changes.py", *_CONFLICTS),
    "protocol.domains": ("tests/unit/test_domains.py", *_CONFLICTS, *_DOMAINS[1:]),
    "protocol.domain_handlers": ("tests/unit/test_domain_handlers.py",),
    "protocol.domain_lifecycle": ("tests/unit/test_domain_lifecycle.py", *_CONFLICTS),
    "protocol.replay": ("tests/unit/test_replay.py", "tests/unit/test_domains.py", *_REBASE,
                        "tests/unit/test_checkpoints.py"),
    "protocol.segment": ("tests/scenarios/test_segment.py", "tests/unit/test_reading_scenarios.py"),
    "protocol.timestamps": (
        "tests/unit/test_timestamps.py", "tests/unit/test_rebase.py", "tests/unit/test_reading_moments.py",
    ),
    "protocol.cleanup": ("tests/unit/test_cleanup.py",),
    "protocol.compaction": ("tests/unit/test_log_upkeep.py", "tests/unit/test_checkpointing.py"),
    "protocol.checksum": ("tests/unit/test_checksums.py", "tests/unit/test_log_upkeep.py"),
    "protocol.names": ("tests/unit/test_names.py", "tests/scenarios/test_segment.py"),
    "protocol.upgrade": ("tests/unit/test_upgrade.py", "tests/unit/test_properties.py", *_ALTERED),
    "protocol.features": ("tests/unit/test_features.py",),
    "table.commit": _LOOP,
    "table.transaction": ("tests/unit/test_transaction.py", *_LOOP, "tests/unit/test_isolation.py"),
    "table.reads": ("tests/unit/test_reads.py",),
    "table.publish": ("tests/unit/test_publishing.py",),
    "table.filesystem": ("tests/unit/test_filesystem.py", "tests/unit/test_routes.py", *_COMMITTERS),
    "table.managed": ("tests/unit/test_routes.py", *_COMMITTERS, "tests/unit/test_descriptions.py"),
    "table.coordinated": (*_COORDINATED, *_COMMITTERS),
    "table.routed": (*_COORDINATED, *_COMMITTERS),
    "protocol.coordination": ("tests/unit/test_coordination.py",),
    "catalog.owner_rules": ("tests/unit/test_owner_rules.py",),
    "catalog.rules": ("tests/unit/test_rules.py", "tests/contract/test_commit_catalog.py"),
}  # fmt: skip
