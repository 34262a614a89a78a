"""What was found in a piece of a statement: tables, parameters, columns behind the names of their tables?"""

from dataclasses import dataclass

from headgate.sql.statements.sql_text import ParameterMention, QualifierMention, SqlText, TableMention


@dataclass(frozen=True, slots=True)
class FoundTables:
    """What was found in a text, with offsets in the whole statement."""

    mentions: tuple[TableMention, ...]
    parameters: tuple[ParameterMention, ...]
    qualifiers: tuple[QualifierMention, ...]


def shift_offsets(found: FoundTables, text: str, offset: int) -> SqlText:
    """What was found, within the slice of the statement that begins at ``offset``."""
    return SqlText(
        text,
        tuple(mention.moved(-offset) for mention in found.mentions),
        tuple(
            ParameterMention(each.start - offset, each.end - offset, each.parameter)
            for each in found.parameters
        ),
        tuple(
            QualifierMention(each.start - offset, each.end - offset, each.ref) for each in found.qualifiers
        ),
        offset=offset,
    )
