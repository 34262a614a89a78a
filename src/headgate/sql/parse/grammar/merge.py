"""How is MERGE read?"""

from dataclasses import replace

from headgate.sql.parse.grammar.dml import read_alias, read_assignments
from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relation_names import split_arguments
from headgate.sql.parse.relations import Place
from headgate.sql.parse.table_suffix import read_suffix
from headgate.sql.parse.value_end import skip_name
from headgate.sql.statements.dml import (
    MatchKind,
    MergeAction,
    MergeBranch,
    MergeDelete,
    MergeInsert,
    MergeInsertAll,
    MergeInto,
    MergeUpdate,
    MergeUpdateAll,
)
from headgate.sql.statements.sql_text import SqlText
from headgate.sql.statements.statement import Command


def read_merge(reader: StatementReader) -> Command:
    """MERGE INTO t USING s ON … WHEN …"""
    evolves = reader.accepts("with", "schema", "evolution")
    reader.require("into")
    table = reader.target()
    alias = read_alias(reader)
    reader.require("using")
    source = _read_source(reader)
    source_alias = read_alias(reader)
    if source_alias is None:
        _leave_place_for_alias(reader, source)
    source_columns = reader.column_list() if source_alias is not None and reader.sees("(") else ()
    reader.require("on")
    condition = reader.expression("a condition", "when")
    branches: list[MergeBranch] = []
    while not reader.is_at_end:
        branches.append(_read_branch(reader))
    if not branches:
        raise reader.unexpected("WHEN MATCHED or WHEN NOT MATCHED", code="MERGE_WITHOUT_WHEN")
    return MergeInto(
        table,
        source,
        condition,
        tuple(branches),
        alias,
        source_alias,
        source_columns,
        evolves,
        reader.with_clause,
    )


def _read_source(reader: StatementReader) -> SqlText:
    """A name with what belongs to it, a table function, a frame ``{df}``, or a query in parentheses."""
    begin = reader.index
    if reader.sees("("):
        stop = reader.tokens.after_group(begin)
    elif reader.sees("{"):
        stop = reader.seek("}") + 1
    else:
        stop = skip_name(reader.tokens, begin)
        is_call = reader.tokens.sign(stop) == "("
        stop = reader.tokens.after_group(stop) if is_call else stop
        stop = read_suffix(reader.tokens, stop).stop
    if stop == begin:
        raise reader.unexpected("the name of a table or a query in parentheses")
    return reader.piece(stop, Place.BARE_RELATION)


def _leave_place_for_alias(reader: StatementReader, source: SqlText) -> None:
    """Where Spark runs the statement, columns of the source are still qualified with its name."""
    for mention in source.mentions[:1]:
        if mention.start == 0 and mention.ref.parts:
            start, end = mention.start + source.offset, mention.end + source.offset
            reader.mentions[start] = replace(reader.mentions[start], alias_at=end)


def _read_branch(reader: StatementReader) -> MergeBranch:
    if not reader.accepts("when"):
        raise reader.unexpected("WHEN")
    kind = _read_kind(reader)
    condition = reader.expression("a condition", "then") if reader.accepts("and") else None
    reader.require("then")
    return MergeBranch(kind, _read_action(reader, kind), condition)


def _read_kind(reader: StatementReader) -> MatchKind:
    if reader.accepts("matched"):
        return MatchKind.MATCHED
    if not reader.accepts("not", "matched"):
        raise reader.unexpected("MATCHED or NOT MATCHED")
    if reader.accepts("by", "source"):
        return MatchKind.NOT_MATCHED_BY_SOURCE
    reader.accepts("by", "target")
    return MatchKind.NOT_MATCHED


def _read_action(reader: StatementReader, kind: MatchKind) -> MergeAction:
    if kind is MatchKind.NOT_MATCHED:
        reader.require("insert")
        return _read_insert(reader)
    if reader.accepts("delete"):
        return MergeDelete()
    if not reader.accepts("update"):
        raise reader.unexpected("UPDATE or DELETE")
    reader.require("set")
    if reader.accepts("*"):
        return MergeUpdateAll(_read_except(reader))
    return MergeUpdate(read_assignments(reader, "when"))


def _read_insert(reader: StatementReader) -> MergeAction:
    if reader.accepts("*"):
        return MergeInsertAll(_read_except(reader))
    columns: list[tuple[str, ...]] = []
    if reader.accepts("("):
        columns.append(reader.names("the name of a column"))
        while reader.accepts(","):
            columns.append(reader.names("the name of a column"))
        reader.require(")")
    reader.require("values")
    begin, stop = reader.group()
    pieces = split_arguments(reader.tokens, begin, stop)
    values = tuple(reader.piece_between(first, last) for first, last in pieces)
    if columns and len(columns) != len(values):
        reader.index = stop
        expected = f"a value for each of {len(columns)} columns"
        raise reader.unexpected(expected, code="MERGE_INSERT_VALUE_COUNT_MISMATCH")
    return MergeInsert(tuple(columns), values)


def _read_except(reader: StatementReader) -> tuple[str, ...]:
    return reader.in_list(reader.dotted) if reader.accepts("except") else ()


_FORM = "MERGE [WITH SCHEMA EVOLUTION] INTO t [AS a] USING s | (query) [AS b] ON condition"
MERGE_ROWS: tuple[StatementRow, ...] = (
    StatementRow(
        ("merge",),
        read_merge,
        f"{_FORM} WHEN MATCHED [AND …] THEN UPDATE SET … | UPDATE SET * | DELETE",
        "Changes or deletes rows that a source has.",
        "`table.merge`",
    ),
    StatementRow(
        ("merge",),
        read_merge,
        "… WHEN NOT MATCHED [BY TARGET] [AND …] THEN INSERT (…) VALUES (…) | INSERT *",
        "Adds rows that only the source has.",
        "`table.merge`",
    ),
    StatementRow(
        ("merge",),
        read_merge,
        "… WHEN NOT MATCHED BY SOURCE [AND …] THEN UPDATE SET … | DELETE",
        "Changes or deletes rows that only the table has.",
        "`table.merge`",
    ),
)
