"""Which tests concern which module: data for the runs, the quickest and most telling files first."""

_CONFLICTS = ("tests/scenarios/test_conflicts.py",)
_REBASE = ("tests/unit/protocol/conflicts/test_rebase.py", *_CONFLICTS)
_ATTEMPT = ("tests/unit/protocol/transaction/test_attempt.py",)
_LOOP = ("tests/unit/table/commit/test_loop.py",)
_ROWS = ("tests/unit/protocol/features/test_row_tracking.py",)
_ORDERS = ("tests/unit/protocol/conflicts/test_serial_orders.py",)
_DOMAINS = (
    "tests/unit/protocol/domains/test_rules.py",
    "tests/unit/protocol/domains/test_handlers.py",
    "tests/unit/protocol/domains/test_lifecycle.py",
)
_ALTERED = ("tests/unit/table/alter/test_set_properties.py",)
_COMMITTERS = ("tests/contract/test_committer.py",)
_COORDINATED = (
    "tests/unit/table/commit/test_coordinated_committer.py",
    "tests/unit/table/commit/test_coordinated.py",
)
_BY_ROWS = (
    "tests/unit/protocol/conflicts/test_row_rules.py",
    "tests/unit/protocol/conflicts/test_row_level_conflicts.py",
)

TESTS: dict[str, tuple[str, ...]] = {
    "protocol.conflicts.metadata_rules": (
        *_CONFLICTS,
        _BY_ROWS[0],
        "tests/unit/protocol/conflicts/test_rebase.py",
    ),
    "protocol.conflicts.joint_upgrade": ("tests/unit/protocol/conflicts/test_joint_upgrade.py", *_CONFLICTS),
    "protocol.conflicts.read_validation": ("tests/unit/protocol/conflicts/test_read_validation.py",),
    "protocol.conflicts.file_rules": (
        *_CONFLICTS,
        *_BY_ROWS,
        "tests/unit/protocol/conflicts/test_rebase.py",
        *_ORDERS,
    ),
    "protocol.conflicts.rebase": (
        *_ATTEMPT,
        "tests/unit/protocol/conflicts/test_prepare.py",
        *_REBASE,
        *_ROWS,
        "tests/unit/protocol/conflicts/test_preconditions.py",
        "tests/unit/protocol/conflicts/test_joint_upgrade.py",
        *_DOMAINS,
        *_LOOP,
    ),
    "protocol.conflicts.row_rules": (*_BY_ROWS, *_CONFLICTS),
    "protocol.stats.full_matches": ("tests/unit/protocol/stats/test_full_matches.py",),
    "protocol.conflicts.race": (
        "tests/unit/protocol/conflicts/test_race.py",
        *_CONFLICTS,
        "tests/unit/protocol/conflicts/test_rebase.py",
    ),
    "protocol.transaction.attempt": (
        *_ATTEMPT,
        _BY_ROWS[0],
        *_REBASE,
        "tests/unit/protocol/transaction/test_isolation.py",
        *_ROWS,
        *_LOOP,
    ),
    "protocol.transaction.isolation": ("tests/unit/protocol/transaction/test_isolation.py", *_CONFLICTS),
    "protocol.features.row_tracking": (*_ROWS, *_CONFLICTS),
    "protocol.log.in_commit_timestamps": (
        *_REBASE,
        "tests/unit/protocol/log/test_timestamps.py",
        "tests/unit/table/alter/test_create.py",
        *_ALTERED,
    ),
    "protocol.conflicts.row_id_backfill": (*_CONFLICTS, *_ROWS),
    "protocol.schema.type_widening": (
        "tests/unit/protocol/schema/test_type_widening.py",
        "tests/unit/protocol/conflicts/test_rebase.py",
    ),
    "protocol.conflicts.preconditions": ("tests/unit/protocol/conflicts/test_preconditions.py", *_REBASE),
    "protocol.schema.partitioning": ("tests/unit/protocol/schema/test_partitioning.py",),
    "protocol.transaction.metadata_diff": (
        "tests/unit/protocol/transaction/test_metadata_diff.py",
        *_CONFLICTS,
    ),
    "protocol.domains.rules": (
        "tests/unit/protocol/domains/test_rules.py",
        *_CONFLICTS,
        *_DOMAINS[1:],
        "tests/unit/table/alter/test_reserved_domains.py",
    ),
    "protocol.domains.handlers": ("tests/unit/protocol/domains/test_handlers.py",),
    "protocol.domains.lifecycle": ("tests/unit/protocol/domains/test_lifecycle.py", *_CONFLICTS),
    "protocol.log.replay": (
        "tests/unit/protocol/log/test_replay.py",
        "tests/unit/protocol/domains/test_rules.py",
        *_REBASE,
        "tests/unit/table/read/test_checkpoint_reader.py",
    ),
    "protocol.log.log_segment": (
        "tests/scenarios/test_segment.py",
        "tests/unit/table/read/test_reading_scenarios.py",
    ),
    "protocol.log.timestamps": (
        "tests/unit/protocol/log/test_timestamps.py",
        "tests/unit/protocol/conflicts/test_rebase.py",
        "tests/unit/table/read/test_time_travel.py",
    ),
    "protocol.log.log_cleanup": ("tests/unit/protocol/log/test_log_cleanup.py",),
    "protocol.log.checkpoint_schema": ("tests/unit/protocol/log/test_checkpoint_schema.py",),
    "protocol.log.log_compaction": (
        "tests/unit/protocol/log/test_log_compaction.py",
        "tests/unit/table/upkeep/test_log_upkeep.py",
        "tests/unit/table/upkeep/test_checkpoint_writer.py",
    ),
    "protocol.log.version_checksum": (
        "tests/unit/table/read/test_checksum_files.py",
        "tests/unit/table/upkeep/test_log_upkeep.py",
    ),
    "protocol.log.file_names": (
        "tests/unit/protocol/log/test_file_names.py",
        "tests/scenarios/test_segment.py",
    ),
    "protocol.protocol_upgrade": (
        "tests/unit/protocol/test_protocol_upgrade.py",
        "tests/unit/protocol/metadata/test_table_properties.py",
        *_ALTERED,
    ),
    "protocol.table_features": ("tests/unit/protocol/test_table_features.py",),
    "protocol.property_values": (
        "tests/unit/protocol/test_property_values.py",
        "tests/unit/protocol/metadata/test_property_rows.py",
    ),
    "protocol.schema.schema_contents": ("tests/unit/protocol/test_table_features.py",),
    "protocol.file_key": ("tests/unit/protocol/test_file_key.py",),
    "protocol.schema.expression_columns": ("tests/unit/protocol/schema/test_expression_columns.py",),
    "protocol.metadata.kept_on_replace": ("tests/unit/protocol/metadata/test_kept_on_replace.py",),
    "protocol.transaction.row_access": _BY_ROWS,
    "protocol.log.last_checkpoint": (
        "tests/unit/protocol/log/test_last_checkpoint.py",
        "tests/unit/table/upkeep/test_checkpoint_writer.py",
    ),
    "protocol.log.log_retention": ("tests/unit/protocol/log/test_log_retention.py",),
    "protocol.features.rearrangement": (
        "tests/unit/protocol/features/test_rearrangement.py",
        "tests/unit/table/maintenance/test_worker_rearranges.py",
    ),
    "protocol.stats.operation_metrics": ("tests/unit/protocol/stats/test_operation_metrics.py",),
    "protocol.stats.indexed_columns": ("tests/unit/protocol/stats/test_indexed_columns.py",),
    "protocol.features.clustering": ("tests/unit/protocol/stats/test_indexed_columns.py",),
    "protocol.schema.partition_values": ("tests/unit/protocol/schema/test_partition_values.py",),
    "protocol.metadata.table_properties": (
        "tests/unit/protocol/metadata/test_property_rows.py",
        "tests/unit/protocol/metadata/test_table_properties.py",
    ),
    "protocol.metadata.alter_properties": (
        "tests/unit/protocol/metadata/test_alter_properties.py",
        "tests/unit/protocol/metadata/test_table_properties.py",
    ),
    "protocol.metadata.drop_feature": ("tests/unit/protocol/metadata/test_drop_feature_rules.py",),
    "protocol.features.identity_columns": (
        "tests/unit/protocol/features/test_identity_columns.py",
        "tests/unit/protocol/features/test_identity_races.py",
    ),
    "protocol.metadata.clone_metadata": ("tests/unit/protocol/metadata/test_clone_metadata.py",),
    "protocol.log.codec": ("tests/unit/protocol/log/test_codec.py",),
    "protocol.log.strict_codec": ("tests/unit/protocol/log/test_strict_codec.py",),
    "protocol.stats.record_counts": ("tests/unit/protocol/stats/test_record_counts.py",),
    "protocol.schema.column_ids": ("tests/unit/protocol/schema/test_column_mapping.py",),
    "protocol.schema.column_mapping": ("tests/unit/protocol/schema/test_column_mapping.py",),
    "protocol.schema.json": ("tests/unit/protocol/schema/test_json.py",),
    "protocol.schema.types": (
        "tests/unit/protocol/schema/test_types.py",
        "tests/unit/protocol/schema/test_json.py",
        "tests/unit/protocol/schema/test_enforcement.py",
    ),
    "protocol.schema.enforcement": ("tests/unit/protocol/schema/test_enforcement.py",),
    "protocol.schema.evolution": ("tests/unit/protocol/schema/test_evolution.py",),
    "protocol.log.strict_schema": ("tests/unit/protocol/log/test_strict_schema.py",),
    "protocol.predicates.to_text": ("tests/unit/protocol/predicates/test_to_text.py",),
    "protocol.predicates.spark_strings": ("tests/unit/protocol/predicates/test_spark_strings.py",),
    "protocol.predicates.tree": ("tests/unit/protocol/predicates/test_tree_evaluation.py",),
    "protocol.stats.file_stats": ("tests/unit/protocol/stats/test_stats_values.py",),
    "protocol.actions": ("tests/unit/protocol/test_actions.py",),
    "protocol.features.space_filling_curves": ("tests/unit/protocol/features/test_space_filling_curves.py",),
    "protocol.integrity_findings": (
        "tests/unit/protocol/test_integrity_findings.py",
        "tests/unit/table/integrity/test_check.py",
    ),
    "protocol.predicates.sql_casts": ("tests/unit/protocol/predicates/test_sql_casts.py",),
    "protocol.predicates.join_key_order": ("tests/unit/protocol/predicates/test_join_key_order.py",),
    "protocol.predicates.from_sql": (
        "tests/unit/protocol/predicates/test_tree.py",
        "tests/unit/protocol/predicates/test_join_parts.py",
    ),
    "protocol.predicates.comparisons": (
        "tests/unit/protocol/predicates/test_comparisons.py",
        "tests/unit/protocol/predicates/test_comparisons_of_lists.py",
    ),
    "protocol.stats.data_skipping": ("tests/unit/protocol/stats/test_data_skipping.py",),
    "protocol.stats.column_bounds": (
        "tests/unit/protocol/stats/test_column_bounds.py",
        "tests/unit/protocol/stats/test_uncounted_nulls.py",
    ),
    "protocol.stats.file_bounds": ("tests/unit/protocol/stats/test_file_bounds.py",),
    "protocol.stats.stats_json": ("tests/unit/protocol/stats/test_stats_json.py",),
    "protocol.stats.stats_leaves": ("tests/unit/protocol/stats/test_stats_leaves.py",),
    "protocol.predicates.literals": ("tests/unit/protocol/predicates/test_literals.py",),
    "protocol.metadata.reserved_properties": ("tests/unit/protocol/metadata/test_alter_properties.py",),
    "protocol.log.deletion_vectors": (
        "tests/unit/protocol/log/test_deletion_vectors.py",
        "tests/unit/spark/dml/test_deletion_vector_files.py",
    ),
    "table.commit.loop": _LOOP,
    "table.transaction": (
        "tests/unit/table/test_transaction.py",
        *_LOOP,
        "tests/unit/protocol/transaction/test_isolation.py",
    ),
    "table.commit.read_set": ("tests/unit/table/commit/test_read_set.py",),
    "table.commit.publish": (
        "tests/unit/table/commit/test_publish_damage.py",
        "tests/unit/table/commit/test_publish.py",
    ),
    "table.commit.filesystem": (
        "tests/unit/table/commit/test_filesystem.py",
        "tests/unit/table/commit/test_routes.py",
        *_COMMITTERS,
    ),
    "table.commit.catalog_managed": (
        "tests/unit/table/commit/test_catalog_hints.py",
        "tests/unit/table/commit/test_routes.py",
        *_COMMITTERS,
        "tests/unit/catalog/store/test_descriptions.py",
    ),
    "table.commit.coordinated": _COORDINATED,
    "table.commit.by_path": ("tests/unit/table/commit/test_by_path.py", *_COORDINATED),
    "table.alter.restore": (
        "tests/unit/table/alter/test_restored_state.py",
        "tests/unit/table/alter/test_restore.py",
        "tests/unit/table/alter/test_restored_coordinators.py",
    ),
    "protocol.metadata.implicit_changes": (
        "tests/unit/protocol/metadata/test_implicit_changes.py",
        "tests/unit/protocol/metadata/test_implicit_changes_rules.py",
    ),
    "protocol.schema.merging": (
        "tests/unit/protocol/schema/test_merging.py",
        "tests/unit/protocol/schema/test_merging_rows.py",
        "tests/unit/protocol/metadata/test_implicit_changes.py",
    ),
    "protocol.schema.column_path": ("tests/unit/protocol/metadata/test_alter_columns.py",),
    "protocol.metadata.alter_columns": (
        "tests/unit/protocol/metadata/test_alter_columns.py",
        "tests/unit/protocol/metadata/test_alter_columns_rules.py",
    ),
    "protocol.features.bin_packing": ("tests/unit/protocol/features/test_bin_packing.py",),
    "protocol.features.zcubes": ("tests/unit/protocol/features/test_zcubes.py",),
    "protocol.metadata.session_defaults": (
        "tests/unit/protocol/metadata/test_session_defaults.py",
        "tests/unit/protocol/metadata/test_replaced_tables.py",
    ),
    "protocol.features.coordinated_commits": ("tests/unit/protocol/features/test_coordinated_commits.py",),
    "protocol.features.coordinator_properties": ("tests/unit/protocol/features/test_coordinated_commits.py",),
    "catalog.ratification.partitioning_cache": ("tests/unit/protocol/schema/test_partitioning.py",),
    "catalog.coordinator.rules": ("tests/unit/catalog/coordinator/test_rules.py",),
    "catalog.decision": ("tests/unit/catalog/test_decision.py",),
}
