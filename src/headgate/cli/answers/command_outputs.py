"""Which shape has the JSON of each command? A row for each, by which it is documented and checked."""

from dataclasses import dataclass
from enum import Enum

_TABLES = "headgate.cli.answers.tables"
_ACTIVITY = "headgate.cli.answers.activity"
_ACCESS = "headgate.cli.answers.access"
_UPKEEP = "headgate.cli.answers.upkeep"
_PORTS = "headgate.catalog.ports.access"


class AnswerForm(Enum):
    """How the values of an answer are put together."""

    ONE = "one object"
    LIST = "a list of objects"
    LINES = "an object a line, as they come"


@dataclass(frozen=True, slots=True)
class AnswerShape:
    """What a command prints with ``--json``."""

    command: str
    type: str
    """The module and the name of the type of its objects."""
    form: AnswerForm = AnswerForm.ONE


@dataclass(frozen=True, slots=True)
class TextOnly:
    """A command without ``--json``, and why."""

    command: str
    because: str


def _lists(command: str, of: str) -> AnswerShape:
    return AnswerShape(command, of, AnswerForm.LIST)


SHAPES: tuple[AnswerShape, ...] = (
    AnswerShape("demo", f"{_UPKEEP}:DemoStory"),
    _lists("table list", f"{_TABLES}:TableSummary"),
    AnswerShape("table show", f"{_TABLES}:TableDetail"),
    _lists("table history", f"{_TABLES}:VersionSummary"),
    AnswerShape("table rows", f"{_TABLES}:TableRows"),
    AnswerShape("table create", f"{_TABLES}:PlacedTable"),
    AnswerShape("table set", f"{_TABLES}:TableVersion"),
    AnswerShape("table unset", f"{_TABLES}:TableVersion"),
    AnswerShape("table rename", f"{_TABLES}:RenamedTable"),
    AnswerShape("table drop", f"{_TABLES}:PlacedTable"),
    _lists("table dropped", f"{_TABLES}:DroppedTable"),
    AnswerShape("table undrop", f"{_TABLES}:PlacedTable"),
    AnswerShape("table purge", f"{_TABLES}:PurgedTable"),
    _lists("table publish", f"{_TABLES}:PublishedTable"),
    AnswerShape("table checkpoint", f"{_TABLES}:TableVersion"),
    AnswerShape("table adopt", f"{_TABLES}:PlacedTable"),
    AnswerShape("table release", f"{_TABLES}:PlacedTable"),
    _lists("schema list", f"{_TABLES}:SchemaSummary"),
    AnswerShape("schema create", f"{_TABLES}:SchemaChange"),
    AnswerShape("schema drop", f"{_TABLES}:SchemaChange"),
    _lists("domain list", f"{_TABLES}:DomainValue"),
    AnswerShape("domain get", f"{_TABLES}:DomainValue"),
    AnswerShape("domain set", f"{_TABLES}:TableVersion"),
    AnswerShape("domain remove", f"{_TABLES}:TableVersion"),
    _lists("commit list", f"{_ACTIVITY}:CommitLine"),
    AnswerShape("commit show", f"{_ACTIVITY}:CommitDetail"),
    _lists("txn list", f"{_ACTIVITY}:TransactionAnswer"),
    AnswerShape("txn show", f"{_ACTIVITY}:TransactionAnswer"),
    _lists("event list", f"{_ACTIVITY}:EventAnswer"),
    AnswerShape("event follow", f"{_ACTIVITY}:EventAnswer", AnswerForm.LINES),
    AnswerShape("grant add", f"{_ACCESS}:GrantChange"),
    AnswerShape("grant revoke", f"{_ACCESS}:GrantChange"),
    _lists("grant list", f"{_PORTS}:Grant"),
    AnswerShape("group add", f"{_ACCESS}:MemberChange"),
    AnswerShape("group remove", f"{_ACCESS}:MemberChange"),
    _lists("group list", f"{_PORTS}:Group"),
    AnswerShape("token create", f"{_PORTS}:CreatedToken"),
    _lists("token list", f"{_PORTS}:StoredToken"),
    AnswerShape("token revoke", f"{_ACCESS}:RevokedToken"),
    _lists("maintenance list", f"{_UPKEEP}:MaintenanceKind"),
    AnswerShape("maintenance permit", f"{_UPKEEP}:MaintenanceKind"),
    AnswerShape("maintenance forbid", f"{_UPKEEP}:MaintenanceKind"),
    AnswerShape("server run", f"{_UPKEEP}:ServerStarted", AnswerForm.LINES),
    _lists("server settings", f"{_UPKEEP}:ServerSetting"),
    _lists("worker run", "headgate.table.maintenance.worker:TaskResult"),
    AnswerShape("config show", f"{_UPKEEP}:ChosenLake"),
    _lists("check", "headgate.table.integrity.check:IntegrityReport"),
    AnswerShape("recover", "headgate.table.maintenance.recovery:RecoveryReport"),
)
"""In the order of the list of commands."""

FAILURE = AnswerShape("any command that fails", "headgate.cli.answers.failures:Failure")
"""On stderr."""

OWN_PAGE_SHAPES: tuple[AnswerShape, ...] = (
    AnswerShape("sql", "headgate.cli.shell.output:ResultSummary", AnswerForm.LINES),
    AnswerShape("top", "headgate.cli.live.frames:LakeFrame"),
    AnswerShape("stream read", "headgate.cli.streams.row_lines:RowLine", AnswerForm.LINES),
    _lists("stream list", "headgate.cli.streams.writers:StreamWriter"),
    _lists("stream show", "headgate.cli.streams.writers:WriterDetail"),
)
"""Of the commands below; ``stream read`` prints nothing else, so it has no ``--json``."""

ON_PAGES_OF_THEIR_OWN: tuple[str, ...] = ("sql", "top", "stream")
"""Commands whose JSON is rows of tables or a live view, which their own pages and tests are about."""

TEXT_ONLY: tuple[TextOnly, ...] = (TextOnly("completion", "it prints a script for a shell"),)
