"""What stands behind the columns of a new table: USING, PARTITIONED BY, CLUSTER BY, TBLPROPERTIES …?"""

from dataclasses import dataclass

from headgate.sql.parse.reader import StatementReader
from headgate.sql.parse.relation_names import split_arguments
from headgate.sql.statements.create import TableClauses
from headgate.sql.statements.sql_text import Properties

HIVE_CLAUSES = ("stored", "row", "clustered", "skewed")
"""Words that begin a clause of Hive's, which no table of a lake takes."""


@dataclass(slots=True)
class ClausesReader:
    """Takes the clauses in any order."""

    reader: StatementReader
    provider: str | None = None
    partitioned_by: tuple[str, ...] = ()
    partition_columns: str = ""
    """The text of those columns that are declared in PARTITIONED BY."""
    cluster_by: tuple[str, ...] = ()
    cluster_auto: bool = False
    properties: Properties = ()
    options: Properties = ()
    comment: str | None = None
    location: str | None = None
    collation: str | None = None
    unsupported: str = ""
    """The words of a clause that no table of a lake takes."""

    def read(self) -> TableClauses:
        """All clauses that come next."""
        while not self.unsupported and self._clause():
            pass
        return TableClauses(
            self.provider,
            self.partitioned_by,
            self.cluster_by,
            self.cluster_auto,
            self.properties,
            self.options,
            self.comment,
            self.location,
            self.collation,
        )

    def _clause(self) -> bool:
        reader = self.reader
        if reader.accepts("using"):
            self.provider = ".".join(reader.names("a format"))
        elif reader.accepts("partitioned", "by"):
            self._partitioned_by()
        elif reader.accepts("cluster", "by"):
            self._cluster_by()
        elif reader.accepts("tblproperties"):
            self.properties = reader.properties()
        elif reader.accepts("options"):
            self.options = reader.properties()
        elif reader.accepts("comment"):
            self.comment = reader.string()
        elif reader.accepts("location"):
            self.location = reader.string()
        elif reader.accepts("default", "collation"):
            self.collation = reader.name("a collation")
        elif reader.word in HIVE_CLAUSES:
            self.unsupported = f"{reader.word} {reader.ahead(1)}".upper()
        else:
            return False
        return True

    def _cluster_by(self) -> None:
        if self.reader.accepts("auto"):
            self.cluster_auto = True
        elif not self.reader.accepts("none"):
            self.cluster_by = self.reader.in_list(self.reader.dotted)

    def _partitioned_by(self) -> None:
        """(a, b), or (a INT, b STRING), whose columns are then declared here; days(a) is not supported."""
        reader = self.reader
        begin, stop = reader.group()
        named: list[str] = []
        declared: list[str] = []
        for first, last in split_arguments(reader.tokens, begin, stop):
            if not reader.tokens.is_name(first) or reader.tokens.sign(first + 1) == "(":
                self.unsupported = "PARTITIONED BY a function of a column"
                continue
            named.append(reader.tokens[first].name)
            if last > first + 1:
                declared.append(reader.tokens.slice(first, last))
        self.partitioned_by = tuple(named)
        self.partition_columns = ", ".join(declared)
