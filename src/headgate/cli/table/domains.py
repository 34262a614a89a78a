"""``headgate domain``: the metadata domains of a table."""

from typing import Annotated

import typer

from headgate.cli import console, folder
from headgate.cli.answers.tables import DomainValue, TableVersion
from headgate.cli.console import OutputColumn
from headgate.cli.options import AsJson, LakePlace, TableArgument, number_option
from headgate.errors import InvalidRequest

DOMAIN_NOT_FOUND = "HEADGATE_DOMAIN_NOT_FOUND"
_COLUMNS = (OutputColumn("domain", style="bold"), OutputColumn("configuration"))
DomainArgument = Annotated[str, typer.Argument(help="The domain, such as shop.loaded.")]
AtVersion = Annotated[int | None, number_option("--version", min=0, help="As of this version.")]
Since = Annotated[
    int | None,
    number_option("--since", min=0, help="The version it was decided from: what came later is a conflict."),
]


def list_domains(
    table: TableArgument, version: AtVersion = None, lake: LakePlace = None, as_json: AsJson = False
) -> None:
    """List metadata domains and their configurations."""
    with folder.open_lake(lake) as opened:
        domains = opened.lake.table(table).domains(version=version)
    found = tuple(
        DomainValue(table=table, domain=name, configuration=said) for name, said in sorted(domains.items())
    )
    if as_json:
        console.show_json(found)
    elif found:
        console.show_table(console.out(), _COLUMNS, [(each.domain, each.configuration) for each in found])
    else:
        console.say(f"{table} has no metadata domains")


def get_domain(
    table: TableArgument,
    domain: DomainArgument,
    version: AtVersion = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Print the configuration of one metadata domain."""
    with folder.open_lake(lake) as opened:
        said = opened.lake.table(table).domain(domain, version=version)
    if said is None:
        raise InvalidRequest(
            f"{table} has no metadata domain {domain!r}: headgate domain list shows those it has",
            code=DOMAIN_NOT_FOUND,
        )
    if as_json:
        console.show_json(DomainValue(table=table, domain=domain, configuration=said))
    else:
        console.say(said)


def set_domain(
    table: TableArgument,
    domain: DomainArgument,
    configuration: Annotated[str, typer.Argument(help="Any text; often JSON.")],
    since: Since = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Give a metadata domain a configuration, in one commit."""
    with folder.open_lake(lake) as opened:
        version = opened.lake.table(table).set_domain(domain, configuration, since=since)
    if as_json:
        console.show_json(TableVersion(table=table, version=version))
    else:
        console.say(f"{table} has {domain} since version {version}")


def remove_domain(
    table: TableArgument,
    domain: DomainArgument,
    since: Since = None,
    lake: LakePlace = None,
    as_json: AsJson = False,
) -> None:
    """Take a metadata domain away, in one commit."""
    with folder.open_lake(lake) as opened:
        version = opened.lake.table(table).remove_domain(domain, since=since)
    if as_json:
        console.show_json(TableVersion(table=table, version=version))
    else:
        console.say(f"{table} is without {domain} since version {version}")
