"""What must hold of the text in a commit, which others read and evaluate: the rules, as rows.

They need nothing but the commit, so nobody waits while its text is looked through.
"""

from headgate import redaction
from headgate.catalog.validation.content_rules import (
    Proposed,
    Rule,
    proposed_metadata,
    writes_domains,
    writes_metadata,
)
from headgate.protocol.domains import rules
from headgate.protocol.log import strict_codec
from headgate.protocol.log.strict_codec import Breach
from headgate.protocol.metadata import stored_expressions

SECRET = "HEADGATE_SECRET_IN_LOG"


def _text_that_must_not_be_evaluated(proposed: Proposed) -> Breach | None:
    metadata = proposed_metadata(proposed)
    found = stored_expressions.first_breach(metadata)
    return None if found is None else proposed.breach(metadata, stored_expressions.told(*found))


def _a_domain_too_deep(proposed: Proposed) -> Breach | None:
    for action in proposed.commit.domains:
        if strict_codec.is_too_deep(action.configuration):
            why = f"the domain {action.domain!r} is nested more than {strict_codec.DEEPEST} levels deep"
            return proposed.breach(action, why)
    return None


def _secret_in_a_domain(proposed: Proposed) -> Breach | None:
    for action in proposed.commit.domains:
        if not action.removed and (why := redaction.held(action.configuration)):
            return proposed.breach(action, f"the domain {action.domain!r} must not be in a log: it {why}")
    return None


def _key_of_delta_in_a_domain(proposed: Proposed) -> Breach | None:
    for action in proposed.commit.domains:
        found = () if action.removed else rules.reserved_keys(action.domain, action.configuration)
        if found:
            why = f"the key {found[0]!r} of the domain {action.domain!r} belongs to Delta itself"
            return proposed.breach(action, why, "HEADGATE_DOMAIN_RESERVED")
    return None


RULES: tuple[Rule, ...] = (
    Rule(
        "stored-expressions", writes_metadata, _text_that_must_not_be_evaluated,
        "constraints, defaults and generated columns call only [functions that are allowed](stored-sql.md)",
        stored_expressions.CODE,
    ),
    Rule(
        "domains-nested", writes_domains, _a_domain_too_deep,
        f"the JSON of a metadata domain is nested at most {strict_codec.DEEPEST} levels",
    ),
    Rule(
        "reserved-keys-in-domains", writes_domains, _key_of_delta_in_a_domain,
        "no key of a user's metadata domain begins with `delta.`, but for those under `delta.<its name>.`",
        "HEADGATE_DOMAIN_RESERVED",
    ),
    Rule(
        "no-secrets-in-domains", writes_domains, _secret_in_a_domain,
        "no metadata domain looks like a credential", SECRET,
    ),
)  # fmt: skip
