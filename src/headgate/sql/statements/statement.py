"""What does one text say in all: the whole of it, and the command that it is?

``whole`` has every mention of a table that is read, also if the command names another to write to: so Spark
can run INSERT INTO a table of its own SELECT … FROM one of a lake. The table written to is no mention.
"""

from dataclasses import dataclass

from headgate.sql.statements.access import GrantPrivileges, RevokePrivileges, ShowGrants
from headgate.sql.statements.alter import AlterTable
from headgate.sql.statements.create import (
    AlterSchema,
    CloneTable,
    CommentOn,
    CreateSchema,
    CreateTable,
    CreateTableLike,
    DropSchema,
    DropTable,
    UndropTable,
    UseSchema,
)
from headgate.sql.statements.describe import (
    DescribeDetail,
    DescribeHistory,
    DescribeSchema,
    DescribeTable,
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowDomains,
    ShowPartitions,
    ShowSchemas,
    ShowTableProperties,
    ShowTables,
    ShowViews,
)
from headgate.sql.statements.dml import (
    CopyInto,
    DeleteFrom,
    InsertInto,
    MergeInto,
    TruncateTable,
    UpdateTable,
)
from headgate.sql.statements.maintenance import (
    AnalyzeTable,
    ConvertToDelta,
    GenerateManifest,
    OptimizeTable,
    ReorgTable,
    RepairTable,
    RestoreTable,
    VacuumTable,
)
from headgate.sql.statements.query import (
    CacheTable,
    CreateTempView,
    CreateView,
    Foreign,
    Query,
    RefreshTable,
    UncacheTable,
    Unsupported,
)
from headgate.sql.statements.sql_text import SqlText
from headgate.sql.statements.transactions import BeginTransaction, CommitTransaction, RollbackTransaction

ReadCommand = Query | CreateTempView | CreateView | CacheTable | UncacheTable | RefreshTable
CreateCommand = (
    CreateTable
    | CreateTableLike
    | CloneTable
    | DropTable
    | UndropTable
    | CreateSchema
    | DropSchema
    | AlterSchema
    | UseSchema
    | CommentOn
)
DmlCommand = InsertInto | UpdateTable | DeleteFrom | TruncateTable | MergeInto | CopyInto
MaintenanceCommand = (
    OptimizeTable
    | VacuumTable
    | RestoreTable
    | ReorgTable
    | GenerateManifest
    | ConvertToDelta
    | AnalyzeTable
    | RepairTable
)
DescribeCommand = (
    DescribeTable
    | DescribeDetail
    | DescribeHistory
    | DescribeSchema
    | ShowTables
    | ShowViews
    | ShowSchemas
    | ShowCatalogs
    | ShowColumns
    | ShowCreateTable
    | ShowTableProperties
    | ShowPartitions
    | ShowDomains
)
AccessCommand = GrantPrivileges | RevokePrivileges | ShowGrants
TransactionCommand = BeginTransaction | CommitTransaction | RollbackTransaction
Command = (
    ReadCommand
    | CreateCommand
    | AlterTable
    | DmlCommand
    | MaintenanceCommand
    | DescribeCommand
    | AccessCommand
    | TransactionCommand
    | Foreign
    | Unsupported
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: ``headgate.sql.parse.statements.parse_statement(text)`` gives it."""

    whole: SqlText
    command: Command
