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
_COORDINATED = ("tests/unit/test_coordinated_committer.py", "tests/unit/test_coordinated.py")
_BY_ROWS = ("tests/unit/test_races_by_rows.py", "tests/unit/test_row_level_conflicts.py")

TESTS: dict[str, tuple[str, ...]] = {
    "protocol.conflicts": (*_CONFLICTS, _BY_ROWS[0], "tests/unit/test_rebase.py"),
    "protocol.joint_upgrade": ("tests/unit/test_joint_upgrade.py", *_CONFLICTS),
    "protocol.read_checks": ("tests/unit/test_read_checks.py",),
    "protocol.file_conflicts": (*_CONFLICTS, *_BY_ROWS, "tests/unit/test_rebase.py", *_ORDERS),
    "protocol.rebase": (*_ATTEMPT, *_REBASE, *_ROWS, "tests/unit/test_commit_checks.py", *_DOMAINS, *_LOOP),
    "protocol.row_conflicts": (*_BY_ROWS, *_CONFLICTS),
    "protocol.whole_matches": ("tests/unit/test_whole_matches.py",),
    "protocol.race": (*_CONFLICTS, "tests/unit/test_rebase.py"),
    "protocol.attempt": (
        *_ATTEMPT, _BY_ROWS[0], *_REBASE, "tests/unit/test_isolation.py", *_ROWS, *_LOOP,
    ),
    "protocol.isolation": ("tests/unit/test_isolation.py", *_CONFLICTS),
    "protocol.row_tracking": (*_ROWS, *_CONFLICTS),
    "protocol.stamping": (*_REBASE, "tests/unit/test_timestamps.py", "tests/unit/test_create.py", *_ALTERED),
    "protocol.backfill": (*_CONFLICTS, *_ROWS),
    "protocol.type_changes": ("tests/unit/test_type_changes.py", "tests/unit/test_rebase.py"),
    "protocol.commit_checks": ("tests/unit/test_commit_checks.py", *_REBASE),
    "protocol.partitioning": ("tests/unit/test_partitioning.py",),
    "protocol.metadata_changes": ("tests/unit/test_metadata_changes.py", *_CONFLICTS),
    "protocol.domains": (
        "tests/unit/test_domains.py", *_CONFLICTS, *_DOMAINS[1:], "tests/unit/test_reserved_domains.py",
    ),
    "protocol.domain_handlers": ("tests/unit/test_domain_handlers.py",),
    "protocol.domain_lifecycle": ("tests/unit/test_domain_lifecycle.py", *_CONFLICTS),
    "protocol.replay": ("tests/unit/test_replay.py", "tests/unit/test_domains.py", *_REBASE,
                        "tests/unit/test_checkpoints.py"),
    "protocol.segment": ("tests/scenarios/test_segment.py", "tests/unit/test_reading_scenarios.py"),
    "protocol.timestamps": (
        "tests/unit/test_timestamps.py", "tests/unit/test_rebase.py", "tests/unit/test_reading_moments.py",
    ),
    "protocol.cleanup": ("tests/unit/test_cleanup.py",),
    "protocol.checkpoint_schema": ("tests/unit/test_checkpoint_schema.py",),
    "protocol.compaction": ("tests/unit/test_log_upkeep.py", "tests/unit/test_checkpointing.py"),
    "protocol.checksum": ("tests/unit/test_checksums.py", "tests/unit/test_log_upkeep.py"),
    "protocol.names": ("tests/unit/test_names.py", "tests/scenarios/test_segment.py"),
    "protocol.upgrade": ("tests/unit/test_upgrade.py", "tests/unit/test_properties.py", *_ALTERED),
    "protocol.features": ("tests/unit/test_features.py",),
    "protocol.file_key": ("tests/unit/test_file_key.py",),
    "protocol.references": ("tests/unit/test_references.py",),
    "protocol.outlasting": ("tests/unit/test_outlasting.py",),
    "protocol.row_work": _BY_ROWS,
    "protocol.last_checkpoint": ("tests/unit/test_last_checkpoint.py", "tests/unit/test_checkpointing.py"),
    "protocol.upkeep": ("tests/unit/test_upkeep.py",),
    "protocol.rearrangement": ("tests/unit/test_rearrangement.py", "tests/unit/test_worker_rearranges.py"),
    "protocol.operation_metrics": ("tests/unit/test_operation_metrics.py",),
    "protocol.indexed": ("tests/unit/test_indexed.py",),
    "protocol.clustering": ("tests/unit/test_indexed.py",),
    "protocol.partitions": ("tests/unit/test_partitions.py",),
    "protocol.properties": ("tests/unit/test_property_rows.py", "tests/unit/test_properties.py"),
    "protocol.property_changes": ("tests/unit/test_property_changes.py", "tests/unit/test_properties.py"),
    "protocol.feature_drop": ("tests/unit/test_feature_drop_rules.py",),
    "protocol.identity": ("tests/unit/test_identity.py", "tests/unit/test_identity_races.py"),
    "protocol.cloning": ("tests/unit/test_cloning.py",),
    "protocol.codec": ("tests/unit/test_codec.py",),
    "protocol.strict": ("tests/unit/test_strict.py",),
    "protocol.counts": ("tests/unit/test_counts.py",),
    "protocol.schema.assign": ("tests/unit/test_schema_mapping.py",),
    "protocol.schema.mapping": ("tests/unit/test_schema_mapping.py",),
    "protocol.schema.json": ("tests/unit/test_schema_json.py",),
    "protocol.schema.types": ("tests/unit/test_schema_json.py", "tests/unit/test_enforce.py"),
    "protocol.schema.enforce": ("tests/unit/test_enforce.py",),
    "protocol.schema.evolution": ("tests/unit/test_evolution.py",),
    "protocol.schema.wellformed": ("tests/unit/test_schema_wellformed.py",),
    "protocol.predicate_text": ("tests/unit/test_predicate_text.py",),
    "protocol.sql_strings": ("tests/unit/test_sql_strings.py",),
    "protocol.predicates": ("tests/unit/test_predicate_tree.py",),
    "protocol.stats": ("tests/unit/test_stats_values.py",),
    "protocol.actions": ("tests/unit/test_actions.py",),
    "protocol.curves": ("tests/unit/test_curves.py",),
    "protocol.findings": ("tests/unit/test_findings.py", "tests/unit/test_integrity.py"),
    "protocol.sql_casts": ("tests/unit/test_sql_casts.py",),
    "protocol.key_order": ("tests/unit/test_key_order.py",),
    "protocol.predicate_sql": (
        "tests/unit/test_predicates.py", "tests/unit/test_join_parts.py",
    ),
    "protocol.comparisons": (
        "tests/unit/test_comparisons.py", "tests/unit/test_comparisons_of_lists.py",
    ),
    "protocol.skipping": ("tests/unit/test_skipping.py",),
    "protocol.column_bounds": ("tests/unit/test_column_bounds.py", "tests/unit/test_uncounted_nulls.py"),
    "protocol.file_bounds": ("tests/unit/test_file_bounds.py",),
    "protocol.stats_json": ("tests/unit/test_stats_json.py",),
    "protocol.stats_leaves": ("tests/unit/test_stats_leaves.py",),
    "protocol.literals": ("tests/unit/test_literals.py",),
    "protocol.reserved": ("tests/unit/test_property_changes.py",),
    "protocol.vectors": ("tests/unit/test_vectors.py", "tests/unit/test_vectors_written.py"),
    "table.commit": _LOOP,
    "table.transaction": ("tests/unit/test_transaction.py", *_LOOP, "tests/unit/test_isolation.py"),
    "table.reads": ("tests/unit/test_reads.py",),
    "table.publish": ("tests/unit/test_publishing_damage.py", "tests/unit/test_publishing.py"),
    "table.filesystem": ("tests/unit/test_filesystem.py", "tests/unit/test_routes.py", *_COMMITTERS),
    "table.managed": (
        "tests/unit/test_served_committer.py", "tests/unit/test_routes.py", *_COMMITTERS,
        "tests/unit/test_descriptions.py",
    ),
    "table.coordinated": _COORDINATED,
    "table.routed": ("tests/unit/test_routed.py", *_COORDINATED),
    "table.restore": (
        "tests/unit/test_restored_state.py", "tests/unit/test_restore.py",
        "tests/unit/test_restored_owners.py",
    ),
    "protocol.metadata": ("tests/unit/test_plan_metadata.py", "tests/unit/test_plan_metadata_rules.py"),
    "protocol.schema.merge": (
        "tests/unit/test_schema_merge.py", "tests/unit/test_schema_merge_rows.py",
        "tests/unit/test_plan_metadata.py",
    ),
    "protocol.schema.column_path": ("tests/unit/test_column_changes.py",),
    "protocol.column_changes": (
        "tests/unit/test_column_changes.py", "tests/unit/test_column_changes_rules.py",
    ),
    "protocol.packing": ("tests/unit/test_packing.py",),
    "protocol.cubes": ("tests/unit/test_cubes.py",),
    "protocol.session_defaults": (
        "tests/unit/test_session_defaults.py", "tests/unit/test_replaced_tables.py",
    ),
    "protocol.coordination": ("tests/unit/test_coordination.py",),
    "catalog.partitionings": ("tests/unit/test_partitioning.py",),
    "catalog.owner_rules": ("tests/unit/test_owner_rules.py",),
    "catalog.rules": ("tests/unit/test_rules.py",),
}  # fmt: skip
