"""What the content of a proposal must satisfy before it can be ratified.

Most of it are rows: ``content_rules`` of the commit alone, ``table_rules`` of the commit and its table.
A refusal names the rule and the offending action, and nothing has changed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import msgspec

from headgate import redaction
from headgate.catalog.ports.commits import InlineCommit, Proposal, StagedCommit, TableState
from headgate.catalog.validation import content_rules, path_containment, table_rules, text_rules
from headgate.catalog.validation.content_rules import MALFORMED, ContentRule, ProposedCommit, first_breach
from headgate.errors import InvalidRequest
from headgate.protocol.actions import (
    Action,
    AddFile,
    Commit,
    EpochMillis,
    TxnId,
    Version,
    commit_from_actions,
)
from headgate.protocol.log import file_names, strict_codec
from headgate.protocol.log.strict_codec import Breach

MAX_INLINE_BYTES = 16 * 1024 * 1024
"""What a proposal may hold; a larger commit is staged."""
MAX_STAGED_BYTES = 1024 * 1024 * 1024
"""What is read of a staged file before it is refused."""

_NAME_RULE = "<20-digit version>.<uuid>.json"


def check_staged_name(proposal: Proposal) -> None:
    """Refuse a staged file whose name is not that of a staged commit of the proposed version (T1, T2)."""
    match proposal.content:
        case StagedCommit(file_name) if file_names.staged_version(file_name) != proposal.target:
            raise InvalidRequest(
                f"{file_name!r} is not the name of a staged commit of version {proposal.target}: "
                f"it must be {_NAME_RULE}",
                file_name=file_name,
            )
        case InlineCommit(content) if len(content) > MAX_INLINE_BYTES:
            raise InvalidRequest(
                f"an inline commit of {len(content)} bytes is too large: stage what is larger than "
                f"{MAX_INLINE_BYTES} bytes as a file",
                code=MALFORMED, rule="size",
            )  # fmt: skip
        case _:
            return


@dataclass(frozen=True, slots=True)
class CheckedContent:
    """What the catalog needs to know of a proposal's content."""

    timestamp: EpochMillis
    changes_table: bool
    """Whether it does more than add and remove files."""
    commit: Commit
    actions: tuple[Action, ...] = field(default=(), repr=False)
    """The same in the order of its lines."""
    concerns_table: bool = True
    """Whether it must be compared with the table whatever that is, as all but plain added files must."""
    credentials: Mapping[str, str] = field(default_factory=dict)
    """The properties that look like a credential, and why: looked for before anybody waits."""


def check_content(proposal: Proposal, content: bytes) -> CheckedContent:
    """The facts of a proposal's content, after checking what can be checked without its table."""
    actions = _parse_actions(content)
    commit = commit_from_actions(proposal.target, actions)
    changes_table = 1 + len(commit.adds) + len(commit.removes) != len(actions)
    is_inline = isinstance(proposal.content, InlineCommit)
    if proposal.any_version and (changes_table or commit.removes or not is_inline):
        raise InvalidRequest(
            "only an inline commit that adds files and does nothing else may leave its version open"
        )
    file_name = None if isinstance(proposal.content, InlineCommit) else proposal.content.file_name
    proposed = ProposedCommit(proposal.txn_id, actions, commit, file_name=file_name)
    return _checked_content(proposed, changes_table=changes_table)


def check_first_commit(content: bytes, sources: Collection[str] = ()) -> CheckedContent:
    """The facts of version 0 of a table, after checking all that can be without a table before it."""
    actions = _parse_actions(content)
    commit = commit_from_actions(Version(0), actions)
    checked = _checked_content(ProposedCommit(_txn_id(commit), actions, commit), changes_table=True)
    check_against_table(checked, None, sources)
    return checked


def check_against_table(
    checked: CheckedContent, before: TableState | None, sources: Collection[str] = ()
) -> None:
    """Refuse a commit that its table forbids; ``before`` is what the table is, as far as that is known."""
    commit = checked.commit
    proposed = ProposedCommit(_txn_id(commit), checked.actions, commit, before, sources, checked.credentials)
    if found := first_breach(table_rules.RULES, proposed):
        raise _refusal(*found)


def _checked_content(proposed: ProposedCommit, *, changes_table: bool) -> CheckedContent:
    rules = (*content_rules.RULES, *text_rules.RULES)
    if found := first_breach(rules, proposed):
        raise _refusal(*found)
    commit, actions = proposed.commit, proposed.actions
    stamp = commit.info.in_commit_timestamp if commit.info is not None else None
    concerns_table = changes_table or bool(commit.removes) or not all(map(_is_plain_add, commit.adds))
    credentials = (
        {} if commit.metadata is None else redaction.credential_properties(commit.metadata.configuration)
    )
    return CheckedContent(
        stamp or EpochMillis(0), changes_table, commit, actions, concerns_table, credentials
    )


def _parse_actions(content: bytes) -> tuple[Action, ...]:
    found = strict_codec.parse(content)
    if isinstance(found, Breach):
        raise _refusal(PARSE_RULE, found)
    return found


def _txn_id(commit: Commit) -> TxnId:
    return (commit.info.txn_id if commit.info is not None else None) or TxnId("")


def _is_plain_add(add: AddFile) -> bool:
    return (
        add.deletion_vector is None and add.base_row_id is None and not path_containment.is_outside(add.path)
    )


def _refusal(rule: ContentRule, breach: Breach) -> InvalidRequest:
    where = f" (line {breach.line}, {breach.kind or 'unknown'})" if breach.line else ""
    return InvalidRequest(
        f"the proposed commit breaks the rule {rule.name}{where}: {breach.why}; nothing was committed",
        code=breach.code or rule.code,
        rule=rule.name, line=breach.line, action=breach.kind,
    )  # fmt: skip


PARSE_RULE = ContentRule(
    "ndjson",
    content_rules.always,
    lambda _: None,
    f"every line is one action of a known kind, nested at most {strict_codec.MAX_JSON_DEPTH} levels, without "
    "a name twice or a number that readers cannot hold, and statistics are JSON objects",
)
"""The rule that makes all others possible; it is asked by parsing."""


def with_timestamp(content: bytes, timestamp: EpochMillis) -> bytes:
    """The same commit, stamped anew."""
    first, _, rest = content.partition(b"\n")
    line = msgspec.json.decode(first)
    line["commitInfo"]["inCommitTimestamp"] = timestamp
    return msgspec.json.encode(line) + b"\n" + rest
