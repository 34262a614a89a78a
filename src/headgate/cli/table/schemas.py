"""``headgate schema``: what tables are in."""

from collections import Counter
from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.tables import SchemaChange, SchemaSummary
from headgate.cli.completion.table_names import complete_schema
from headgate.cli.console import OutputColumn
from headgate.cli.options import AsJson, LakePlace
from headgate.errors import SchemaNotFound

_COLUMNS = (OutputColumn("schema", style="bold"), OutputColumn("tables", right=True))
NewSchema = Annotated[str, typer.Argument(help="The name of the schema.")]
SchemaArgument = Annotated[str, typer.Argument(help="The schema.", autocompletion=complete_schema)]


def list_schemas(lake: LakePlace = None, as_json: AsJson = False) -> None:
    """List the schemas of a lake, and how many tables are in each."""
    with folder.open_lake(lake) as opened:
        names = opened.lake.schemas()
        counts = Counter(entry.name.schema for entry in opened.lake.tables())
    found = tuple(SchemaSummary(schema=name, tables=counts[name]) for name in names)
    if as_json:
        console.show_json(found)
    elif found:
        rows = [(each.schema, console.format_count(each.tables)) for each in found]
        console.show_table(console.out(), _COLUMNS, rows)
    else:
        console.say(f"no schemas in {opened.place} yet: headgate schema create NAME makes one")


def create_schema(schema: NewSchema, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Make a schema to put tables in; nothing happens if it exists."""
    with folder.open_lake(lake) as opened:
        changed = schema.lower() not in opened.lake.schemas()
        opened.lake.create_schema(schema)
    if as_json:
        console.show_json(SchemaChange(schema=schema, changed=changed))
    else:
        console.say(f"the schema {schema} is made" if changed else f"the schema {schema} was there already")


def drop_schema(schema: SchemaArgument, lake: LakePlace = None, as_json: AsJson = False) -> None:
    """Take away a schema that has no table."""
    with folder.open_lake(lake) as opened:
        if not opened.lake.drop_schema(schema):
            raise SchemaNotFound(f"there is no schema {schema!r} in {opened.place}", name=schema)
    if as_json:
        console.show_json(SchemaChange(schema=schema, changed=True))
    else:
        console.say(f"the schema {schema} is gone")
