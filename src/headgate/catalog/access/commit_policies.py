"""May this commit be made? Policies review what is proposed, inside the transaction that would ratify it.

A policy sees the parsed actions, who proposes them, and the table as it is at that moment. The first that
refuses decides. What is refused changes nothing, and the error names the policy, the reason and the
offending action.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headgate.catalog.access import required_privileges
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.policies import CommitPolicy, Refusal, Review
from headgate.catalog.store import linear_patterns
from headgate.catalog.store.commit_rules import (
    COLUMN_NAMES,
    FREEZE_METADATA,
    FROZEN,
    MAX_BYTES,
    MAX_FILES,
    PATTERN,
)
from headgate.errors import CommitRefused
from headgate.protocol.actions import (
    Action,
    AddFile,
    AppTransaction,
    DomainMetadata,
    Metadata,
    TxnId,
)
from headgate.protocol.actions import Protocol as ProtocolAction
from headgate.protocol.domains import rules
from headgate.protocol.features import row_tracking
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Struct
from headgate.protocol.transaction import fresh_file_names


@dataclass(frozen=True, slots=True)
class Proposer:
    """On whose behalf a commit is proposed, and the policies of the program besides the built-in ones."""

    principal: Principal = OWNER
    policies: Mapping[str, CommitPolicy] = field(default_factory=dict)


LAKE_OWNER = Proposer()


def _missing_privilege(review: Review) -> Refusal | None:
    if review.principal == OWNER:
        return None
    held = review.facts.privileges(review.principal)
    before = review.before if _first_alteration(review) is not None else None
    if Privilege.CHANGE_DATA in held:  # then it does not matter whether an append is more than that
        proposer = required_privileges.AppendEvidence(lambda _add: True, lambda _app_id: True)
    else:
        proposer = _append_evidence(review)
    for privilege, action in required_privileges.required_privileges(review.actions, before, proposer):
        if privilege not in held:
            why = f"it takes {privilege.value}, which {review.principal} does not have"
            return review.refuse(why + _hint(privilege, action, held), action)
    return None


def _append_evidence(review: Review) -> required_privileges.AppendEvidence:
    info = review.commit.info
    marked = fresh_file_names.transaction_prefix(
        review.table_id, (info.txn_id if info is not None else None) or TxnId("")
    )
    return required_privileges.AppendEvidence(
        lambda add: fresh_file_names.is_fresh(add.path, marked) and not _reuses_row_ids(review, add),
        lambda app_id: review.facts.owns_application(review.principal, app_id),
    )


def _reuses_row_ids(review: Review, add: AddFile) -> bool:
    """Whether its rows would have ids that other rows have."""
    if add.base_row_id is None:
        return False
    known = (review.before.domains if review.before is not None else None) or {}
    mark = known.get(rules.ROW_TRACKING_DOMAIN)
    return mark is not None and add.base_row_id <= row_tracking.parse_high_water_mark(mark)


def _hint(privilege: Privilege, action: Action, held: frozenset[Privilege]) -> str:
    """Why what looks like an append takes more than that."""
    if privilege is not Privilege.CHANGE_DATA or Privilege.APPEND not in held:
        return ""
    match action:
        case AddFile(data_change=True, deletion_vector=None, path=path):
            return (
                f": {path!r}, or its row ids, may be there already, since its folder does not begin with the "
                "mark of this transaction or its row ids with new ones"
            )
        case AppTransaction(app_id=app_id):
            return f": the application {app_id!r} is somebody else's"
        case _:
            return ""


_ALTERING = (Privilege.ALTER_SCHEMA, Privilege.ALTER_PROPERTIES, Privilege.ALTER_PROTOCOL)


def _first_alteration(review: Review) -> Action | None:
    kinds = (Metadata, ProtocolAction, DomainMetadata)
    return next((action for action in review.actions if isinstance(action, kinds)), None)


def _frozen_metadata(review: Review) -> Refusal | None:
    if review.facts.terms().get(FREEZE_METADATA) != FROZEN:
        return None
    for privilege, action in required_privileges.alteration_privileges(review.actions, review.before):
        if privilege in _ALTERING:
            return review.refuse(f"the rule {FREEZE_METADATA} protects what the table is", action)
    return None


def _too_large(review: Review) -> Refusal | None:
    terms = review.facts.terms()
    files = len(review.commit.adds) + len(review.commit.removes)
    for rule, found in ((MAX_BYTES, review.size), (MAX_FILES, files)):
        if rule in terms and found > int(terms[rule]):
            return review.refuse(f"{found} is more than the rule {rule} allows, which is {terms[rule]}")
    return None


def _badly_named_column(review: Review) -> Refusal | None:
    metadata, pattern = review.commit.metadata, review.facts.terms().get(COLUMN_NAMES)
    if metadata is None or pattern is None:
        return None
    before = review.before
    known = {column.name for column in _columns(before.metadata).fields} if before is not None else set()
    for column in _columns(metadata).fields:
        if column.name in known:
            continue
        fits = linear_patterns.matches(pattern, column.name)
        if fits is None:
            why = f"the rule {COLUMN_NAMES} is {pattern!r}, which is no {PATTERN}: set another"
            return review.refuse(why, metadata)
        if not fits:
            why = f"the new column {column.name!r} does not match {pattern!r}, the rule {COLUMN_NAMES}"
            return review.refuse(why, metadata)
    return None


def _broken_foreign_key(review: Review) -> Refusal | None:
    metadata, before = review.commit.metadata, review.before
    if metadata is None or before is None:
        return None
    was, now = _columns(before.metadata), _columns(metadata)
    for key in review.facts.foreign_keys():
        sides = ((key.parent_id, key.parent_columns, True), (key.child_id, key.child_columns, False))
        mine = [(names, referred) for table_id, names, referred in sides if table_id == review.table_id]
        for names, referred in mine:
            for name, had, has in zip(names, was.find_all(names), now.find_all(names), strict=True):
                if why := _broken_key_column(had, has, name, referred=referred):
                    told = f"{', '.join(key.child_columns)} → {', '.join(key.parent_columns)}"
                    return review.refuse(f"{why}, and the foreign key {told} needs it", metadata)
    return None


def _broken_key_column(was: Field | None, now: Field | None, name: str, *, referred: bool) -> str | None:
    if was is not None and now is None:
        return f"the column {name!r} goes away or gets another name"
    if was is None or now is None:
        return None
    if referred and not was.nullable and now.nullable:
        return f"the column {name!r} would no longer be NOT NULL"
    return None


def _columns(metadata: Metadata) -> Struct:
    return schema_json.parse(metadata.schema_string)


@dataclass(frozen=True, slots=True)
class BuiltInPolicy:
    """One row: a policy that every catalog has, which commits it may concern, and the same in words."""

    name: str
    concerns: Callable[[Review], bool]
    refuse: Callable[[Review], Refusal | None]
    says: str

    def review(self, review: Review) -> Refusal | None:
        return self.refuse(review) if self.concerns(review) else None


def _always(_: Review) -> bool:
    return True


def _has_alterations(review: Review) -> bool:
    return _first_alteration(review) is not None


def _writes_metadata(review: Review) -> bool:
    return review.commit.metadata is not None


POLICIES: tuple[BuiltInPolicy, ...] = (
    BuiltInPolicy(
        "privileges", _always, _missing_privilege, "the principal has every privilege the actions take"
    ),
    BuiltInPolicy(
        "metadata-protection",
        _has_alterations,
        _frozen_metadata,
        f"the rule `{FREEZE_METADATA}`, for everybody",
    ),
    BuiltInPolicy(
        "foreign-keys", _writes_metadata, _broken_foreign_key,
        "columns of a foreign key stay, under their names, and NOT NULL where they are referred to",
    ),
    BuiltInPolicy("size", _always, _too_large, f"the rules `{MAX_BYTES}` and `{MAX_FILES}`"),
    BuiltInPolicy("column-names", _writes_metadata, _badly_named_column, f"the rule `{COLUMN_NAMES}`"),
)  # fmt: skip


def privilege_error(review: Review) -> CommitRefused | None:
    """The error for a commit whose principal may not make it, which is asked before anything else."""
    row = POLICIES[0]
    refusal = row.review(review)
    return None if refusal is None else _policy_error(row.name, refusal)


def cannot_write_error(principal: Principal) -> CommitRefused:
    """The error for a commit of somebody who may make none."""
    refusal = Refusal(f"{principal} has no privilege by which anything could be committed to the table")
    return _policy_error(POLICIES[0].name, refusal)


def first_refusal(review: Review, own: Mapping[str, CommitPolicy]) -> CommitRefused | None:
    """The error of the first policy that refuses, built-in ones first; one that fails refuses too."""
    for row in POLICIES[1:]:
        if refusal := row.review(review):
            return _policy_error(row.name, refusal)
    for name, policy in own.items():
        try:
            refused = policy.review(review)
        except Exception as exc:
            error = _policy_error(name, Refusal(f"it failed: {type(exc).__name__}: {exc}"))
            error.__cause__ = exc
            return error
        if refused is not None:
            return _policy_error(name, refused)
    return None


def _policy_error(name: str, refusal: Refusal) -> CommitRefused:
    where = f" (line {refusal.line}, {refusal.action})" if refusal.line else ""
    return CommitRefused(
        f"the policy {name} refuses the commit{where}: {refusal.reason}; nothing was committed",
        policy=name, reason=refusal.reason, line=refusal.line, action=refusal.action,
    )  # fmt: skip
