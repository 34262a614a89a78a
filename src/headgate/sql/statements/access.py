"""Who is to be allowed what, by GRANT, REVOKE and SHOW GRANTS?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecurableRef:
    """What a privilege is for: ``kind`` is TABLE, SCHEMA, CATALOG or another word of the text."""

    kind: str
    name: tuple[str, ...] = ()
    path: str | None = None


@dataclass(frozen=True, slots=True)
class GrantPrivileges:
    """GRANT SELECT, MODIFY ON TABLE t TO principal; privileges are in capitals, words apart by one blank."""

    privileges: tuple[str, ...]
    securable: SecurableRef
    principal: str


@dataclass(frozen=True, slots=True)
class RevokePrivileges:
    """REVOKE SELECT ON TABLE t FROM principal."""

    privileges: tuple[str, ...]
    securable: SecurableRef
    principal: str


@dataclass(frozen=True, slots=True)
class ShowGrants:
    """SHOW GRANTS [principal] ON TABLE t."""

    securable: SecurableRef
    principal: str | None = None
