"""What must hold of the text in a commit, which others read and evaluate: the rules, as rows.

They need nothing but the commit, so nobody waits while its text is looked through.
"""

from headgate import redaction
from headgate.catalog.validation.content_rules import (
    ContentRule,
    ProposedCommit,
    proposed_metadata,
    writes_domains,
    writes_metadata,
)
from headgate.protocol.domains import rules
from headgate.protocol.log import strict_codec
from headgate.protocol.log.strict_codec import Breach
from headgate.protocol.metadata import stored_expressions

SECRET = "HEADGATE_SECRET_IN_LOG"


def _unsafe_expression(proposed: ProposedCommit) -> Breach | None:
    metadata = proposed_metadata(proposed)
    found = stored_expressions.first_breach(metadata)
    return None if found is None else proposed.breach(metadata, stored_expressions.describe_breach(*found))


def _deeply_nested_domain(proposed: ProposedCommit) -> Breach | None:
    for action in proposed.commit.domains:
        if strict_codec.is_too_deep(action.configuration):
            why = (
                f"the domain {action.domain!r} is nested more than {strict_codec.MAX_JSON_DEPTH} levels deep"
            )
            return proposed.breach(action, why)
    return None


def _secret_in_domain(proposed: ProposedCommit) -> Breach | None:
    for action in proposed.commit.domains:
        if not action.removed and (why := redaction.credential_in_text(action.configuration)):
            return proposed.breach(action, f"the domain {action.domain!r} must not be in a log: it {why}")
    return None


def _delta_key_in_domain(proposed: ProposedCommit) -> Breach | None:
    for action in proposed.commit.domains:
        found = () if action.removed else rules.reserved_keys(action.domain, action.configuration)
        if found:
            why = f"the key {found[0]!r} of the domain {action.domain!r} belongs to Delta itself"
            return proposed.breach(action, why, "HEADGATE_DOMAIN_RESERVED")
    return None


RULES: tuple[ContentRule, ...] = (
    ContentRule(
        "stored-expressions", writes_metadata, _unsafe_expression,
        "constraints, defaults and generated columns call only [functions that are allowed](stored-sql.md)",
        stored_expressions.CODE,
    ),
    ContentRule(
        "domains-nested", writes_domains, _deeply_nested_domain,
        f"the JSON of a metadata domain is nested at most {strict_codec.MAX_JSON_DEPTH} levels",
    ),
    ContentRule(
        "reserved-keys-in-domains", writes_domains, _delta_key_in_domain,
        "no key of a user's metadata domain begins with `delta.`, but for those under `delta.<its name>.`",
        "HEADGATE_DOMAIN_RESERVED",
    ),
    ContentRule(
        "no-secrets-in-domains", writes_domains, _secret_in_domain,
        "no metadata domain looks like a credential", SECRET,
    ),
)  # fmt: skip
