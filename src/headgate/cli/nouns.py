"""Which nouns and verbs does the command line have? A row for each, and for each name of before."""

from headgate.cli.command_row import LazyCommand

_TABLE = "headgate.cli.table"
_ACCESS = "headgate.cli.access"
_ACTIVITY = "headgate.cli.activity"
_UPKEEP = "headgate.cli.upkeep"

_SERVE = "Serve a lake over HTTP, to this client and to other engines, until it is stopped."
_WORK = "Publish, checkpoint, clean up and sweep what is due, until it is stopped."
_REVOKE = "Take back what was granted, in the same words."
_PUBLISH = "Publish every ratified commit to _delta_log."

NOUNS: tuple[LazyCommand, ...] = (
    LazyCommand(
        "table",
        summary="List, show, make, name and publish tables.",
        verbs=(
            LazyCommand("list", f"{_TABLE}.listing:tables", "List the tables of a lake."),
            LazyCommand("show", f"{_TABLE}.show:show", "Show a table's columns, size, properties and place."),
            LazyCommand(
                "history", f"{_TABLE}.history:history", "Show what happened to a table, newest first."
            ),
            LazyCommand("rows", f"{_TABLE}.rows:rows", "Show some rows of a table, read without Spark."),
            LazyCommand("create", f"{_TABLE}.create:create", "Make an empty table in a schema."),
            LazyCommand(
                "set",
                f"{_TABLE}.create:set_properties",
                "Give properties of a table these values, in one commit.",
            ),
            LazyCommand(
                "unset",
                f"{_TABLE}.create:unset_properties",
                "Take properties of a table away, in one commit.",
            ),
            LazyCommand(
                "rename",
                f"{_TABLE}.naming:rename",
                "Give a table another name, in another schema if need be.",
            ),
            LazyCommand(
                "drop",
                f"{_TABLE}.naming:drop",
                "Take a table's name away; undrop brings it back.",
            ),
            LazyCommand(
                "dropped",
                f"{_TABLE}.naming:dropped",
                "List what was dropped and can be had back.",
            ),
            LazyCommand(
                "undrop", f"{_TABLE}.naming:undrop", "Have back the table of that name that was dropped last."
            ),
            LazyCommand(
                "purge",
                f"{_TABLE}.naming:purge",
                "Get rid of a dropped table for good.",
            ),
            LazyCommand("publish", f"{_TABLE}.publish:publish", _PUBLISH),
            LazyCommand(
                "checkpoint",
                f"{_TABLE}.publish:checkpoint",
                "Write a checkpoint of the latest version.",
            ),
            LazyCommand(
                "adopt",
                f"{_TABLE}.handover:adopt",
                "Take an existing Delta table into the lake, where it lies.",
            ),
            LazyCommand(
                "release",
                f"{_TABLE}.handover:release",
                "Give a table back: an ordinary Delta table again.",
            ),
        ),
    ),
    LazyCommand(
        "schema",
        summary="List, make and drop schemas.",
        verbs=(
            LazyCommand(
                "list",
                f"{_TABLE}.schemas:list_schemas",
                "List the schemas of a lake, and how many tables are in each.",
            ),
            LazyCommand(
                "create",
                f"{_TABLE}.schemas:create_schema",
                "Make a schema to put tables in; nothing happens if it exists.",
            ),
            LazyCommand("drop", f"{_TABLE}.schemas:drop_schema", "Take away a schema that has no table."),
        ),
    ),
    LazyCommand(
        "domain",
        summary="Look at metadata domains, set and remove them.",
        verbs=(
            LazyCommand(
                "list",
                f"{_TABLE}.domains:list_domains",
                "List metadata domains and their configurations.",
            ),
            LazyCommand(
                "get", f"{_TABLE}.domains:get_domain", "Print the configuration of one metadata domain."
            ),
            LazyCommand(
                "set",
                f"{_TABLE}.domains:set_domain",
                "Give a metadata domain a configuration, in one commit.",
            ),
            LazyCommand(
                "remove", f"{_TABLE}.domains:remove_domain", "Take a metadata domain away, in one commit."
            ),
        ),
    ),
    LazyCommand(
        "commit",
        summary="Look at the versions of a table, and at what one of them did.",
        verbs=(
            LazyCommand(
                "list",
                f"{_ACTIVITY}.commits:list_commits",
                "List what the catalog ratified of a table, newest first.",
            ),
            LazyCommand(
                "show",
                f"{_ACTIVITY}.commits:show_commit",
                "Show what a version did, changed, and was ratified with.",
            ),
        ),
    ),
    LazyCommand(
        "txn",
        summary="Look at transactions over several tables.",
        verbs=(
            LazyCommand(
                "list",
                f"{_ACTIVITY}.transactions:list_transactions",
                "List transactions over several tables, the latest first.",
                database_only=True,
            ),
            LazyCommand(
                "show",
                f"{_ACTIVITY}.transactions:show_transaction",
                "Show which versions of which tables a transaction made.",
                database_only=True,
            ),
        ),
    ),
    LazyCommand(
        "event",
        summary="See what happened in a lake, and what happens now.",
        verbs=(
            LazyCommand(
                "list",
                f"{_ACTIVITY}.events:list_events",
                "List what happened in a lake lately, the oldest first.",
            ),
            LazyCommand(
                "follow",
                f"{_ACTIVITY}.events:follow_events",
                "Print what happens in a lake as it happens, a line each.",
            ),
        ),
    ),
    LazyCommand(
        "grant",
        summary="Say who may do what: add, revoke and list grants.",
        default_verb="add",
        verbs=(
            LazyCommand(
                "add",
                f"{_ACCESS}.grants:grant",
                "Let a principal or a group do something.",
            ),
            LazyCommand("revoke", f"{_ACCESS}.grants:revoke", _REVOKE),
            LazyCommand("list", f"{_ACCESS}.grants:grants", "List what was granted to whom."),
        ),
    ),
    LazyCommand(
        "group",
        summary="Add members to groups, remove and list them.",
        verbs=(
            LazyCommand("add", f"{_ACCESS}.groups:add_member", "Make a principal a member of a group."),
            LazyCommand(
                "remove",
                f"{_ACCESS}.groups:remove_member",
                "Let a principal be no member of a group any more.",
            ),
            LazyCommand(
                "list", f"{_ACCESS}.groups:list_groups", "List the groups, and who is a member of each."
            ),
        ),
    ),
    LazyCommand(
        "token",
        summary="Make tokens for callers, list them and take them back.",
        verbs=(
            LazyCommand(
                "create",
                f"{_ACCESS}.tokens:create_token",
                "Make a token; its secret is shown here and never again.",
            ),
            LazyCommand(
                "list",
                f"{_ACCESS}.tokens:list_tokens",
                "List the tokens that are good, without their secrets.",
            ),
            LazyCommand(
                "revoke",
                f"{_ACCESS}.tokens:revoke_token",
                "Take a token back, with those made by means of it.",
            ),
        ),
    ),
    LazyCommand(
        "maintenance",
        summary="Permit and forbid kinds of maintenance.",
        verbs=(
            LazyCommand(
                "list",
                f"{_UPKEEP}.permissions:list_permissions",
                "List which kinds of maintenance a table permits.",
            ),
            LazyCommand(
                "permit",
                f"{_UPKEEP}.permissions:permit",
                "Permit a kind of maintenance of a table.",
            ),
            LazyCommand(
                "forbid",
                f"{_UPKEEP}.permissions:forbid",
                "Take the permission of a kind of maintenance back.",
            ),
        ),
    ),
    LazyCommand(
        "server",
        summary="Serve lakes over HTTP.",
        verbs=(
            LazyCommand("run", f"{_UPKEEP}.serve_command:serve", _SERVE, database_only=True),
            LazyCommand(
                "settings",
                f"{_UPKEEP}.serve_command:show_settings",
                "Show every setting of the server.",
            ),
        ),
    ),
    LazyCommand(
        "worker",
        summary="Tend the tables of a lake, once or for as long as it runs.",
        default_verb="run",
        runs_bare=True,
        verbs=(LazyCommand("run", f"{_UPKEEP}.worker:worker", _WORK),),
    ),
    LazyCommand(
        "config",
        summary="See which lake is meant.",
        verbs=(
            LazyCommand(
                "show",
                f"{_UPKEEP}.chosen_lake:show_config",
                "Show which lake is meant, and who says so.",
            ),
        ),
    ),
)

OLDER_NAMES: tuple[LazyCommand, ...] = (
    LazyCommand("tables", f"{_TABLE}.listing:tables", "List the tables of a lake.", instead="table list"),
    LazyCommand(
        "history",
        f"{_TABLE}.history:history",
        "Show what happened to a table, newest first.",
        instead="table history",
    ),
    LazyCommand(
        "show",
        f"{_TABLE}.show:show",
        "Show a table's columns, size, properties and place.",
        instead="table show",
    ),
    LazyCommand("publish", f"{_TABLE}.publish:publish", _PUBLISH, instead="table publish"),
    LazyCommand("serve", f"{_UPKEEP}.serve_command:serve", _SERVE, database_only=True, instead="server run"),
    LazyCommand("revoke", f"{_ACCESS}.grants:revoke", _REVOKE, instead="grant revoke"),
    LazyCommand("grants", f"{_ACCESS}.grants:grants", "List what was granted to whom.", instead="grant list"),
)
"""They are not listed, and keep working."""
