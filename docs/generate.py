"""Writes the tables of the reference pages from the code's own rows; ``--check`` only compares.

A table stands between ``<!-- generated: name -->`` and ``<!-- end -->``.
"""

import ast
import dataclasses
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from headgate import errors
from headgate.catalog.access.commit_policies import POLICIES
from headgate.catalog.coordinator.failures import FAILURES
from headgate.catalog.ports import maintenance
from headgate.catalog.ports.access import IMPLIED_PRIVILEGES, Privilege
from headgate.catalog.store.commit_rules import COMMIT_RULES
from headgate.catalog.validation import content_rules, table_rules, text_rules, timestamp_rules
from headgate.catalog.validation.validation import PARSE_RULE
from headgate.delta import pip_utils, tables
from headgate.delta.error_translation import ERRORS as DELTA_ERRORS
from headgate.protocol.conflicts.preconditions import PRECONDITIONS
from headgate.protocol.conflicts.race import ConflictRule, Fix
from headgate.protocol.conflicts.rebase import STEPS
from headgate.protocol.features import rearrangement
from headgate.protocol.integrity_findings import DEFECTS
from headgate.protocol.metadata.drop_feature import DROPPABLE
from headgate.protocol.metadata.implicit_changes import DECISIONS
from headgate.protocol.metadata.reserved_properties import RESERVED_PROPERTIES
from headgate.protocol.metadata.sql_functions import FUNCTION_GROUPS, ExpressionPlace
from headgate.protocol.metadata.table_properties import PROPERTIES
from headgate.protocol.schema.merging import RULES as MERGES
from headgate.protocol.table_features import FEATURES
from headgate.protocol.transaction.metadata_diff import SAFE_CHANGES
from headgate.server.exposure import UNSAFE_SETUPS
from headgate.server.operations.limits import ROUTE_LIMITS, BodySize
from headgate.server.settings import ROWS as SERVER_SETTINGS
from headgate.settings import Settings
from headgate.spark.data_files.option_rows import OPTIONS, WriteKind
from headgate.spark.data_files.write_options import CONTRADICTIONS
from headgate.spark.streaming.read_option_rows import READ_OPTIONS, REFUSED_READ_OPTIONS, ReadKind
from headgate.sql.parse.grammar.rows import STATEMENT_ROWS
from headgate.sql.parse.grammar.statement_row import StatementRow
from headgate.sqlstates import SQLSTATES
from headgate.table import authority
from headgate.table.authority import Decider
from headgate.table.stream.commit_files import COMMIT_REFUSALS
from headgate.table.stream.stream_read_settings import READ_CONTRADICTIONS

sys.path.append(str(Path(__file__).parents[1]))
from docs import command_line_tables, python_api, site_contents, test_numbers
from tests.sql.summary import sql_bank, sql_differences, sql_ours
from tests.support.referee_features import FEATURES as REFEREED

DOCS = Path(__file__).parent
PAGES = [
    *sorted((DOCS / "reference").glob("*.md")),
    *sorted((DOCS / "explanation").glob("*.md")),
    DOCS / "index.md",
]
"""The pages; what comes later counts in what came before."""
TESTS = Path(__file__).parents[1] / "tests"
_SCENARIO = re.compile(r"(?<![a-z0-9])s(\d{3})(?![a-z0-9])", re.IGNORECASE)
_MARKED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _conflicts() -> Iterator[str]:
    yield "| step | what | error | SQLSTATE |"
    yield "|---|---|---|---|"
    for step in STEPS:
        match step:
            case ConflictRule(name, objection, error, code):
                code = code or error.code
                told = f"`{error.__name__}` · `{code}` | `{SQLSTATES[code]}`"
                yield f"| `{name}` | refused if {_words(objection)} | {told} |"
            case Fix(name, _, does):
                yield f"| `{name}` | {does} | | |"


def _words(named: Callable[..., object]) -> str:
    return named.__name__.strip("_").replace("_", " ")


def _checks() -> Iterator[str]:
    yield "| check | refused | code | SQLSTATE |"
    yield "|---|---|---|---|"
    for check in PRECONDITIONS:
        told = f"`{check.code}` | `{SQLSTATES[check.code]}`"
        yield f"| `{check.name}` | {_words(check.breach)} | {told} |"


def _metadata_changes() -> Iterator[str]:
    yield "| property | may change meanwhile |"
    yield "|---|---|"
    for row in SAFE_CHANGES:
        yield f"| `{row.key}` | {row.means} |"


def _features() -> Iterator[str]:
    yield "| feature | concerns | read | write | requires | can be dropped |"
    yield "|---|---|---|---|---|---|"
    drops = {row.feature: "yes, protected in history" if row.in_history else "yes" for row in DROPPABLE}
    for feature in FEATURES:
        concerns = "readers and writers" if feature.reader else "writers"
        read = "yes" if feature.can_read else "refused when used"
        read = "if named in `read_previews`" if feature.only_on_request else read
        write = "yes" if feature.can_write else "refused when used"
        requires = ", ".join(f"`{name}`" for name in feature.requires)
        dropped = drops.get(feature.name, "")
        yield f"| `{feature.name}` | {concerns} | {read} | {write} | {requires} | {dropped} |"


def _properties() -> Iterator[str]:
    yield "| property | value | default | set by | feature |"
    yield "|---|---|---|---|---|"
    for row in PROPERTIES:
        default = "" if row.default is None else f"`{row.default}`"
        brings = "" if row.brings is None else f"`{row.brings}`"
        setter = row.setter.value if row.obeyed else f"{row.setter.value}, for other clients"
        yield f"| `{row.name}` | {row.kind.means} | {default} | {setter} | {brings} |"


def _reserved() -> Iterator[str]:
    yield "| name | instead |"
    yield "|---|---|"
    for row in RESERVED_PROPERTIES:
        yield f"| `{row.name}` | {row.instead} |"


def _errors() -> Iterator[str]:
    yield "| error | code | SQLSTATE | try again? | meaning |"
    yield "|---|---|---|---|---|"
    yield from _subtree(errors.HeadgateError, 0)


def _subtree(error: type[errors.HeadgateError], depth: int) -> Iterator[str]:
    summary = (inspect.getdoc(error) or "").splitlines()[0]
    is_raised = depth > 0 and "code" in vars(error)  # the others are only there to be caught
    code = f"`{error.code}`" if is_raised else ""
    retry = error.retry.value if is_raised else ""
    state = f"`{SQLSTATES[error.code]}`" if is_raised and error.code in SQLSTATES else ""
    yield f"| {'&emsp;' * depth}`{error.__name__}` | {code} | {state} | {retry} | {summary} |"
    for child in error.__subclasses__():
        yield from _subtree(child, depth + 1)


def _owner_failures() -> Iterator[str]:
    yield "| status | meaning | retryable | conflict | the client |"
    yield "|---|---|---|---|---|"
    for row in FAILURES:
        words = (("yes" if word else "no") for word in (row.retryable, row.conflict))
        yield f"| {row.status or 'any other'} | {row.meaning} | {' | '.join(words)} | {row.then} |"


def _settings() -> Iterator[str]:
    yield "| setting | default |"
    yield "|---|---|"
    for field in dataclasses.fields(Settings):
        yield f"| `{field.name}` | `{field.default}` |"


def _server_settings() -> Iterator[str]:
    yield "| setting | variable | flag | default | what it is |"
    yield "|---|---|---|---|---|"
    for row in SERVER_SETTINGS:
        default = (
            ""
            if row.default is None
            else f"`{str(row.default).lower() if row.type is bool else row.default}`"
        )
        yield f"| `{row.name}` | `{row.variable}` | `{row.flag}` | {default} | {row.sentence} |"


def _route_limits() -> Iterator[str]:
    yield "| requests | body | in the time of a request |"
    yield "|---|---|---|"
    bodies = {BodySize.NONE: "none", BodySize.SMALL: "`small_body_bytes`", BodySize.LARGE: "`body_bytes`"}
    for row in ROUTE_LIMITS:
        yield f"| {row.name} | {bodies[row.body]} | {'yes' if row.is_timed else 'no, it is a stream'} |"


def _unsafe_setups() -> Iterator[str]:
    yield "| refused | because |"
    yield "|---|---|"
    for row in UNSAFE_SETUPS:
        yield f"| {row.name} | {row.refusal} |"


def _findings() -> Iterator[str]:
    yield "| finding | invariant | severity | what | what a repair does |"
    yield "|---|---|---|---|---|"
    for row in DEFECTS:
        yield f"| `{row.name}` | {row.invariant} | {row.severity.value} | {row.says} | {row.repair} |"


def _scenarios() -> Iterator[str]:
    yield "| scenario | shown by |"
    yield "|---|---|"
    shown: dict[str, list[str]] = defaultdict(list)
    for path in sorted([*TESTS.rglob("test_*.py"), *TESTS.rglob("*.toml")]):
        for name, text in (_situations if path.suffix == ".toml" else _tests)(path.read_text()):
            told = f"{name} (`{path.relative_to(TESTS).as_posix()}`)"
            for number in sorted(set(_SCENARIO.findall(text))):
                shown[number].append(told)
    for number in sorted(shown):
        yield f"| S{number} | {'<br>'.join(dict.fromkeys(shown[number]))} |"


def _tests(source: str) -> Iterator[tuple[str, str]]:
    """What each test of a module is called, in words, and its text."""
    lines = source.splitlines()
    for found in ast.walk(ast.parse(source)):
        if isinstance(found, ast.FunctionDef) and found.name.startswith("test_"):
            start = min([found.lineno, *(part.lineno for part in found.decorator_list)])
            words = re.sub(r"^(s\d{3}_)+", "", found.name.removeprefix("test_"))
            yield words.replace("_", " "), "\n".join(lines[start - 1 : found.end_lineno])


def _situations(source: str) -> Iterator[tuple[str, str]]:
    for text in re.split(r"^(?=\[)", source, flags=re.MULTILINE)[1:]:
        yield text[1 : text.index("]")].replace("-", " "), text


def _decisions() -> Iterator[str]:
    yield "| if | then | with `dataChange=false` |"
    yield "|---|---|---|"
    for row in DECISIONS:
        rearranging = f"refused: it would {row.rearranging}" if row.rearranging else ""
        yield f"| {row.when} | {row.outcome.value} | {rearranging} |"


def _merges() -> Iterator[str]:
    yield "| the table has | the rows have | the column is then | otherwise |"
    yield "|---|---|---|---|"
    for row in MERGES:
        code = f"`{row.code}`" if row.code else ""
        yield f"| {row.table} | {row.rows} | {row.result} | {code} |"


def _write_options() -> Iterator[str]:
    yield "| cannot be meant | code |"
    yield "|---|---|"
    for row in CONTRADICTIONS:
        yield f"| {row.says} | `{row.code}` |"


def _options() -> Iterator[str]:
    yield "| option | Delta's name | value | unless it is given | taken by | what it does |"
    yield "|---|---|---|---|---|---|"
    for row in OPTIONS:
        delta = ", ".join(f"`{name}`" for name in row.delta)
        default = f"`{row.default}`" if row.default or row.default is False else ""
        takers = ", ".join(kind.value for kind in WriteKind if kind in row.taken_by)
        yield f"| `{row.name}` | {delta} | {row.kind.what} | {default} | {takers} | {row.means} |"


def _read_options() -> Iterator[str]:
    yield "| option | Delta's name | value | unless it is given | taken by | what it does |"
    yield "|---|---|---|---|---|---|"
    for row in READ_OPTIONS:
        delta = ", ".join(f"`{name}`" for name in row.delta)
        default = "" if row.default is None else f"`{row.default}`"
        takers = ", ".join(kind.value for kind in ReadKind if kind in row.taken_by)
        yield f"| `{row.name}` | {delta} | {row.kind.what} | {default} | {takers} | {row.means} |"


def _refused_read_options() -> Iterator[str]:
    yield "| Delta's name | why it is refused |"
    yield "|---|---|"
    for row in REFUSED_READ_OPTIONS:
        yield f"| `{row.delta}` | {row.why} |"


def _read_contradictions() -> Iterator[str]:
    yield "| cannot be meant | code |"
    yield "|---|---|"
    for row in READ_CONTRADICTIONS:
        yield f"| {row.says} | `{row.code}` |"


def _stream_refusals() -> Iterator[str]:
    yield "| a commit that | stops a stream with | unless |"
    yield "|---|---|---|"
    for row in COMMIT_REFUSALS:
        yield f"| {row.what} | `{row.code}` | {row.instead} |"


def _ratified() -> Iterator[str]:
    yield "| rule | what must hold | code |"
    yield "|---|---|---|"
    for row in (
        PARSE_RULE,
        *content_rules.RULES,
        *text_rules.RULES,
        *timestamp_rules.RULES,
        *table_rules.RULES,
    ):
        yield f"| `{row.name}` | {row.says} | `{row.code}` |"


def _authority() -> Iterator[str]:
    yield f"| maintenance | {' | '.join(decider.value for decider in Decider)} | because |"
    yield "|---" * (len(Decider) + 2) + "|"
    always = {row.kind for row in maintenance.RULES if row.always}
    for row in authority.RULES:
        allowed = ("yes" if authority.allows_maintenance(row.kind, one) else "refused" for one in Decider)
        cells = [
            "if it permits it, or its owner asks"
            if one is Decider.CATALOG and row.kind not in always
            else cell
            for one, cell in zip(Decider, allowed, strict=True)
        ]
        yield f"| {row.kind.value} | {' | '.join(cells)} | {row.because} |"


def _orders() -> Iterator[str]:
    yield "| order | threshold | unless it is said otherwise | what happens |"
    yield "|---|---|---|---|"
    for row in rearrangement.LAYOUT_TASKS:
        default = getattr(rearrangement.DEFAULTS, row.threshold)
        yield f"| {row.name} | `{row.threshold}` | {default} | {row.does} |"


def _functions() -> Iterator[str]:
    yield "| functions | where | names |"
    yield "|---|---|---|"
    for row in FUNCTION_GROUPS:
        where = ", ".join(f"{place.value}s" for place in ExpressionPlace if place in row.places)
        yield f"| {row.kind} | {where} | {', '.join(f'`{name}`' for name in sorted(row.names))} |"


def _policies() -> Iterator[str]:
    yield "| policy | what it holds commits to |"
    yield "|---|---|"
    for row in POLICIES:
        yield f"| `{row.name}` | {row.says} |"


def _terms() -> Iterator[str]:
    yield "| rule | what it says | value |"
    yield "|---|---|---|"
    for row in COMMIT_RULES:
        yield f"| `{row.name}` | {row.says} | {row.value} |"


def _privileges() -> Iterator[str]:
    yield "| privilege | brings |"
    yield "|---|---|"
    for privilege in Privilege:
        brings = ", ".join(
            f"`{each.value}`" for each in Privilege if each in IMPLIED_PRIVILEGES.get(privilege, ())
        )
        yield f"| `{privilege.value}` | {brings} |"


def _referee() -> Iterator[str]:
    yield "| feature | begun by | what happens, by turns | compared | in `make test` |"
    yield "|---|---|---|---|---|"
    for row in REFEREED:
        begun = " and ".join(engine.value for engine in row.begun_by)
        happens = ", ".join(step.name for step in (row.made, *row.steps))
        short = "yes" if row.short else ""
        yield f"| {row.name} | {begun} | {happens} | {', '.join(row.compared)} | {short} |"


def _delta_api() -> Iterator[str]:
    yield "| call | what it does |"
    yield "|---|---|"
    for name in tables.__all__:
        cls = getattr(tables, name)
        if dataclasses.is_dataclass(cls):
            fields = ", ".join(f"{field.name}={field.default!r}" for field in dataclasses.fields(cls))
            yield f"| `{name}({fields})` | {_first_line(cls)} |"
            continue
        for method, member in vars(cls).items():
            if not method.startswith("_"):
                function = member.__func__ if isinstance(member, classmethod) else member
                yield f"| `{name}.{method}({_parameters(function)})` | {_first_line(function)} |"
    configure = pip_utils.configure_spark_with_delta_pip
    yield f"| `{configure.__name__}({_parameters(configure)})` | {_first_line(configure)} |"


def _parameters(function: Callable[..., object]) -> str:
    found = inspect.signature(function).parameters.values()
    shown = (str(each.replace(annotation=inspect.Parameter.empty)) for each in found)
    return ", ".join(each for each in shown if each not in ("self", "cls"))


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0].replace("``", "`")


def _delta_errors() -> Iterator[str]:
    yield "| error of Headgate | with the code | raised | error class, if it is another |"
    yield "|---|---|---|---|"
    for row in DELTA_ERRORS:
        codes = ", ".join(f"`{code}…`" for code in row.codes)
        other = "" if row.condition is None else f"`{row.condition}`"
        yield f"| `{row.error.__name__}` | {codes or 'any'} | `{row.raised.__name__}` | {other} |"


def _sql() -> Iterator[str]:
    yield "| statement | form | what it does | what it calls |"
    yield "|---|---|---|---|"
    for row in _first_of_each_form():
        form = row.form.replace("|", "\\|")
        yield f"| {' '.join(row.leads).upper()} | `{form}` | {row.says} | {row.calls} |"


def _first_of_each_form() -> Iterator[StatementRow]:
    said: set[str] = set()
    for row in STATEMENT_ROWS:
        if row.form not in said:
            said.add(row.form)
            yield row


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "conflicts": _conflicts,
    "checks": _checks,
    "metadata_changes": _metadata_changes,
    "features": _features,
    "properties": _properties,
    "reserved": _reserved,
    "errors": _errors,
    "owner_failures": _owner_failures,
    "settings": _settings,
    "findings": _findings,
    "server_settings": _server_settings,
    "route_limits": _route_limits,
    "unsafe_setups": _unsafe_setups,
    "scenarios": _scenarios,
    "decisions": _decisions,
    "merges": _merges,
    "write_options": _write_options,
    "options": _options,
    "read_options": _read_options,
    "refused_read_options": _refused_read_options,
    "read_contradictions": _read_contradictions,
    "stream_refusals": _stream_refusals,
    "ratified": _ratified,
    "functions": _functions,
    "policies": _policies,
    "authority": _authority,
    "orders": _orders,
    "terms": _terms,
    "privileges": _privileges,
    "referee": _referee,
    "delta_api": _delta_api,
    "delta_errors": _delta_errors,
    "sql": _sql,
    "commands": command_line_tables.commands,
    "older_names": command_line_tables.older_names,
    "exit_codes": command_line_tables.exit_codes,
    "fixes": command_line_tables.fixes,
    "json_shapes": command_line_tables.json_shapes,
    "sql_bank": sql_bank,
    "sql_differences": sql_differences,
    "sql_ours": sql_ours,
    **python_api.PARTS,
    **site_contents.PARTS,
    **test_numbers.PARTS,
}


def render(page: str) -> str:
    """The page with its generated tables as the code has them."""
    return _MARKED.sub(lambda found: f"{found[1]}{_table(found[2])}\n{found[3]}", page)


def _table(name: str) -> str:
    return "\n".join(TABLES[name]())


def main() -> int:
    """Write every page, or with ``--check`` say which are stale."""
    stale = 0
    for path in PAGES:
        written = path.read_text()
        if (rendered := render(written)) == written:
            continue
        stale += 1
        if "--check" in sys.argv:
            sys.stderr.write(f"{path.name} is stale: run make docs\n")
        else:
            path.write_text(rendered)
    return int(stale > 0 and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
