"""Which step comes next, by chance: rows change more often than the table does."""

from random import Random

from tests.support.histories import clone_steps, row_steps, table_steps
from tests.support.histories.steps import Draw, Now, Step

_WEIGHTS: tuple[tuple[Draw, int], ...] = (
    (row_steps.append, 10),
    (row_steps.append_with_a_new_column, 3),
    (row_steps.overwrite, 3),
    (row_steps.replace_where, 5),
    (row_steps.replace_partitions, 5),
    (row_steps.delete, 10),
    (row_steps.update, 10),
    (row_steps.merge, 14),
    (table_steps.add_column, 3),
    (table_steps.rename_column, 4),
    (table_steps.drop_column, 3),
    (table_steps.widen_column, 6),
    (table_steps.set_property, 6),
    (table_steps.unset_property, 2),
    (table_steps.optimize, 4),
    (table_steps.z_order, 2),
    (table_steps.purge, 2),
    (table_steps.cluster_by, 3),
    (table_steps.restore, 5),
    (table_steps.checkpoint, 5),
    (table_steps.compact_log, 4),
    (table_steps.vacuum, 2),
    (table_steps.set_domain, 4),
    (table_steps.add_constraint, 2),
    (table_steps.drop_constraint, 2),
    (table_steps.break_constraint, 4),
    (table_steps.drop_feature, 3),
    (clone_steps.shallow_clone, 4),
)


def draw(random: Random, now: Now) -> Step:
    """A step that the table takes."""
    draws, weights = zip(*_WEIGHTS, strict=True)
    while True:
        (chosen,) = random.choices(draws, weights)
        step: Step | None = chosen(random, now)
        if step is not None:
            return step
