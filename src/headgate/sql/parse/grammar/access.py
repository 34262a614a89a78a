"""How are GRANT, REVOKE, SHOW GRANTS, BEGIN, COMMIT and ROLLBACK read?"""

from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.statements.access import GrantPrivileges, RevokePrivileges, SecurableRef, ShowGrants
from headgate.sql.statements.query import Foreign, Unsupported
from headgate.sql.statements.statement import Command
from headgate.sql.statements.transactions import BeginTransaction, CommitTransaction, RollbackTransaction

_KINDS = {
    "table": "TABLE",
    "view": "VIEW",
    "schema": "SCHEMA",
    "database": "SCHEMA",
    "namespace": "SCHEMA",
    "catalog": "CATALOG",
    "lake": "CATALOG",
    "metastore": "METASTORE",
    "function": "FUNCTION",
    "volume": "VOLUME",
}
_NAMELESS = ("catalog", "lake", "metastore")
_PRINCIPAL = "the name of a principal, in backticks or quotes if it has odd characters,"


def read_grant(reader: StatementReader) -> Command:
    """GRANT privileges ON what TO principal."""
    privileges = _read_privileges(reader)
    securable = _read_securable(reader)
    reader.require("to")
    return GrantPrivileges(privileges, securable, reader.name_or_string(_PRINCIPAL))


def read_revoke(reader: StatementReader) -> Command:
    """REVOKE privileges ON what FROM principal."""
    privileges = _read_privileges(reader)
    securable = _read_securable(reader)
    reader.require("from")
    return RevokePrivileges(privileges, securable, reader.name_or_string(_PRINCIPAL))


def read_deny(reader: StatementReader) -> Command:
    """DENY, which there is not."""
    reader.index = reader.tokens.stop
    return Unsupported("DENY", None, "what is not granted is denied: use REVOKE")


def _read_privileges(reader: StatementReader) -> tuple[str, ...]:
    found: list[str] = []
    while True:
        words: list[str] = []
        while not (reader.sees(",") or reader.sees("on") or reader.is_at_end):
            words.append(reader.name("a privilege, then ON").upper())
        if not words:
            raise reader.unexpected("a privilege")
        found.append(" ".join(words))
        if not reader.accepts(","):
            break
    reader.require("on")
    return tuple(found)


def _read_securable(reader: StatementReader) -> SecurableRef:
    """TABLE t, SCHEMA s, CATALOG; a name alone is a table's."""
    word = reader.word
    is_named = reader.tokens.is_name(reader.index + 1) and reader.ahead(1) not in ("to", "from")
    if word in _KINDS and (is_named or word in _NAMELESS):
        reader.index += 1
        if not is_named:
            return SecurableRef(_KINDS[word])
        if _KINDS[word] != "TABLE":
            return SecurableRef(_KINDS[word], reader.names())
    table = reader.target()
    return SecurableRef("TABLE", table.parts, table.path)


def read_show_grants(reader: StatementReader) -> Command:
    """SHOW GRANTS [principal] ON what."""
    principal = None if reader.sees("on") else reader.name_or_string(_PRINCIPAL)
    reader.require("on")
    return ShowGrants(_read_securable(reader), principal)


def read_begin(reader: StatementReader) -> Command:
    """BEGIN [TRANSACTION | WORK]; BEGIN … END is a script of Spark's."""
    reader.accepts_any("transaction", "work")
    if reader.is_at_end:
        return BeginTransaction()
    reader.index = reader.tokens.stop
    return Foreign()


def read_start(reader: StatementReader) -> Command:
    """START TRANSACTION."""
    reader.accepts("read", "write")
    return BeginTransaction()


def read_commit(reader: StatementReader) -> Command:
    """COMMIT [TRANSACTION | WORK]."""
    reader.accepts_any("transaction", "work")
    return CommitTransaction()


def read_rollback(reader: StatementReader) -> Command:
    """ROLLBACK [TRANSACTION | WORK]."""
    reader.accepts_any("transaction", "work")
    return RollbackTransaction()


ACCESS_ROWS: tuple[StatementRow, ...] = (
    StatementRow(
        ("grant",),
        read_grant,
        "GRANT SELECT, MODIFY … ON [TABLE] t | SCHEMA s | CATALOG TO principal",
        "Allows a principal something.",
        "`lake.access.grant`",
    ),
    StatementRow(
        ("revoke",),
        read_revoke,
        "REVOKE SELECT … ON [TABLE] t | SCHEMA s | CATALOG FROM principal",
        "Allows it no longer.",
        "`lake.access.revoke`",
    ),
    StatementRow(("deny",), read_deny, "DENY …", "Is refused: what is not granted is denied.", ""),
    *(
        StatementRow(
            ("show", word),
            read_show_grants,
            f"SHOW {word.upper()} [principal] ON [TABLE] t | SCHEMA s | CATALOG",
            "Lists who is allowed what.",
            "`lake.access.grants`",
        )
        for word in ("grants", "grant")
    ),
    StatementRow(
        ("begin",),
        read_begin,
        "BEGIN [TRANSACTION]",
        "Begins a transaction over several tables.",
        "`lake.transaction`",
    ),
    StatementRow(
        ("start", "transaction"), read_start, "START TRANSACTION", "The same.", "`lake.transaction`"
    ),
    StatementRow(
        ("commit",), read_commit, "COMMIT [TRANSACTION]", "Commits all tables of it at once.", "`txn.commit`"
    ),
    StatementRow(
        ("rollback",), read_rollback, "ROLLBACK [TRANSACTION]", "Commits none of them.", "`txn.rollback`"
    ),
)
