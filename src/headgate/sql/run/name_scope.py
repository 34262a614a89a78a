"""Whose is a name in a statement: a lake's, a path's, or Spark's?

scope.find(("sales", "orders"))          the table of the lake that has a schema ``sales``
scope.find(("main", "sales", "orders"))  the same, by the name of the lake
scope.find(("orders",))                  the same after ``USE sales``, unless a temporary view is called so
scope.find(("delta", "/data/orders"))    the Delta table at a path
scope.find(("default", "orders"))        None: it is Spark's
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headgate.catalog.ports.directory import TableName
from headgate.errors import InvalidRequest, SchemaNotFound, TableNotFound
from headgate.lake.lake import Lake
from headgate.lake.path_table import at_path
from headgate.lake.table import Table
from headgate.lake.transaction import LakeTransaction
from headgate.registration import registered_lakes
from headgate.registration.registered_lakes import DEFAULT_NAME, LakeTable
from headgate.sql.run import session_state

DELTA = "delta"


@dataclass(frozen=True, slots=True)
class PathTable:
    """A name that is a path, ``delta.`/data/orders` ``."""

    path: str

    @property
    def name(self) -> str:
        """As a user writes it."""
        return f"{DELTA}.`{self.path}`"


Found = LakeTable | PathTable


@dataclass(frozen=True, slots=True)
class NameScope:
    """The lakes that the names of a statement may mean, in a session."""

    spark: SparkSession
    lakes: Mapping[str, Lake]
    is_of_lake: bool = False
    """Whether a lake was asked, so that it is meant where no name says otherwise; else the session was."""

    def find(self, parts: Sequence[str]) -> Found | None:
        """Whose the name of a table is, whether or not there is one; None if it is Spark's."""
        if len(parts) == 2 and parts[0].lower() == DELTA:
            return PathTable(parts[1])
        if len(parts) == 1:
            return self._without_schema(parts[0])
        return registered_lakes.find_in(self.lakes, parts)

    def require(self, parts: Sequence[str]) -> Found:
        """The same of a name that must be a lake's or a path."""
        found = self.find(parts)
        if found is None:
            raise self._no_such_name(parts)
        return found

    def schema(self, parts: Sequence[str]) -> tuple[Lake, str] | None:
        """The lake of a schema, ``sales`` or ``main.sales``, and its name there; None if it is Spark's."""
        name = parts[-1].lower()
        if len(parts) == 2:
            lake = self.lakes.get(parts[0].lower())
            return None if lake is None else (lake, name)
        if len(parts) != 1:
            return None
        return next(((lake, name) for lake in self.lakes.values() if name in _schemas(lake)), None)

    def schema_home(self, parts: Sequence[str]) -> tuple[Lake, str] | None:
        """The same of a schema that need not be there; None if it is, or would be, Spark's."""
        found = self.schema(parts)
        if found is None and len(parts) == 1 and self.home is not None:
            return self.home, parts[0].lower()
        return found

    @property
    def home(self) -> Lake | None:
        """The lake that is meant where no name says otherwise: the one that was asked, or that is in use."""
        if self.is_of_lake:
            return next(iter(self.lakes.values()))
        used = self.in_use
        return None if used is None else used[0]

    def name_of(self, lake: Lake) -> str:
        """What the lake is called in SQL."""
        return next(name for name, known in self.lakes.items() if known is lake)

    def lake_or_only(self, parts: Sequence[str] = ()) -> Lake:
        """The lake that is named, else the one in use, else the only one."""
        if parts:
            found = self.lakes.get(parts[0].lower())
            if found is not None:
                return found
        home = self.home
        if home is not None:
            return home
        if len(self.lakes) == 1:
            return next(iter(self.lakes.values()))
        raise InvalidRequest(
            f"the session knows several lakes ({', '.join(self.lakes)}): name one, or say USE lake.schema"
        )

    @property
    def in_use(self) -> tuple[Lake, str] | None:
        """The schema that USE named, with its lake."""
        for lake in self.lakes.values():
            schema = session_state.schema_in_use(self.spark, lake)
            if schema is not None:
                return lake, schema
        return None

    def transaction(self, lake: Lake) -> LakeTransaction | None:
        """The transaction that runs in the session, if it is one of this lake."""
        running = session_state.running_transaction(self.spark)
        if running is None:
            return None
        owner, transaction = running
        if owner is not lake:
            raise InvalidRequest(
                "the transaction of this session is one of another lake: COMMIT or ROLLBACK it first"
            )
        return transaction

    def table(self, found: Found) -> Table:
        """The table that is found, in the transaction of the session if there is one."""
        if isinstance(found, PathTable):
            return self._at_path(found)
        transaction = self.transaction(found.lake)
        try:
            if transaction is not None:
                return transaction.table(str(found.name))
            return found.lake.table(str(found.name))
        except (TableNotFound, SchemaNotFound) as exc:
            raise table_or_view_not_found(str(found.name)) from exc

    def open(self, parts: Sequence[str]) -> Table:
        """The table of a name that must be a lake's or a path."""
        return self.table(self.require(parts))

    def exists(self, found: Found) -> bool:
        """Whether there is such a table."""
        try:
            self.table(found)
        except TableNotFound:
            return False
        return True

    def _at_path(self, found: PathTable) -> Table:
        if session_state.running_transaction(self.spark) is not None:
            raise InvalidRequest(
                f"{found.name} is a path, and a transaction is of tables of a lake: take it in with "
                "lake.adopt(path, 'schema.table'), or COMMIT first"
            )
        try:
            return at_path(found.path)
        except TableNotFound as exc:
            exc.code = "PATH_NOT_FOUND"
            raise

    def _without_schema(self, name: str) -> LakeTable | None:
        used = self.in_use
        if used is None or not used[1] or _is_temporary_view(self.spark, name):
            return None
        return LakeTable(used[0], TableName(used[1], name))

    def _no_such_name(self, parts: Sequence[str]) -> TableNotFound:
        if len(parts) == 1:
            return table_or_view_not_found(
                parts[0], "name its schema too, as in sales.orders, or say USE sales first"
            )
        return table_or_view_not_found(".".join(parts))


def scope_of_lake(spark: SparkSession, lake: Lake) -> NameScope:
    """What ``lake.sql`` knows: this lake, by the name it has in the session."""
    known = registered_lakes.registered_lakes(spark)
    name = next((each for each, registered in known.items() if registered is lake), DEFAULT_NAME)
    return NameScope(spark, {name: lake}, is_of_lake=True)


def scope_of_session(spark: SparkSession) -> NameScope:
    """What ``spark.sql`` knows: the lakes that are registered."""
    return NameScope(spark, registered_lakes.registered_lakes(spark))


def table_or_view_not_found(name: str, hint: str = "SHOW TABLES lists what there is") -> TableNotFound:
    """That there is no such table, as Spark calls it."""
    return TableNotFound(
        f"there is no table or view {name}: {hint}", code="TABLE_OR_VIEW_NOT_FOUND", name=name
    )


def _schemas(lake: Lake) -> set[str]:
    return {each.lower() for each in lake.schemas()}


def _is_temporary_view(spark: SparkSession, name: str) -> bool:
    try:
        return spark.catalog.getTable(name).isTemporary
    except PySparkException:  # there is none
        return False
