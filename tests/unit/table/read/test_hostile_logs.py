"""Whatever a log has in it: its rows are those it names, or it is refused by name; nothing else is raised."""

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from headgate.errors import HeadgateError
from headgate.protocol.actions import Version
from headgate.protocol.log import deletion_vectors, file_names
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.predicates import from_sql
from headgate.protocol.schema import json as schema_json
from headgate.protocol.stats import data_skipping
from headgate.table.opened_table import OpenedTable
from tests.support.faulty_store import DictStore
from tests.support.handmade import array, column, mapped, struct
from tests.support.tables import open_filesystem

Commits = list[list[Any]]
ROUNDS = 150
SEEDS = range(6)
STATS = json.dumps(
    {
        "numRecords": 3,
        "minValues": {"id": 1},
        "maxValues": {"id": 9},
        "nullCount": {"id": 0},
        "tightBounds": True,
    }
)
ODD_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, 1.5, "", "x", "é", "[1", [], [1, "a"], {}, {"a": [1, "a"]}, [[]], {"id": None},
)  # fmt: skip


def added(path: str, **more: Any) -> Any:
    facts = {"partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True, "stats": STATS}
    return {"add": {"path": path, **facts, **more}}


SCHEMA = json.dumps(
    struct(
        {**mapped("id", "long", 1, "c1"), "nullable": False},
        {**mapped("n", struct(mapped("x", array("date"), 3, "c3")), 2, "c2"), "nullable": True},
        column("w", "integer", delta_typeChanges=[{"fromType": "short", "toType": "integer"}]),
        column("g", "long", delta_generationExpression="id + 1"),
    )
)
FEATURES = ["deletionVectors", "columnMapping", "typeWidening"]
WRITERS = ["domainMetadata", "generatedColumns", "invariants", "inCommitTimestamp"]
PROPERTIES = {"delta.columnMapping.mode": "id", "delta.columnMapping.maxColumnId": "3",
              "delta.enableTypeWidening": "true", "delta.checkpointInterval": "7"}  # fmt: skip


def history() -> Commits:
    """A valid log with every kind of action."""
    vector = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 1, "sizeInBytes": 36,
              "cardinality": 2}  # fmt: skip
    info = {
        "commitInfo": {"timestamp": 1, "operation": "WRITE", "operationParameters": {"a": "b"}, "tags": {}}
    }
    metadata = {
        "id": "t", "name": "n", "format": {"provider": "parquet", "options": {}}, "schemaString": SCHEMA,
        "partitionColumns": [], "configuration": PROPERTIES, "createdTime": 1,
    }  # fmt: skip
    features = {"readerFeatures": FEATURES, "writerFeatures": [*FEATURES, *WRITERS]}
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
    domain = {"domain": "d", "configuration": "{}", "removed": False}
    gone = {
        "remove": {"path": "a", "dataChange": True, "deletionTimestamp": 5, "extendedFileMetadata": False}
    }
    return [
        [info, {"protocol": protocol}, {"metaData": metadata}, added("a"), added("b", tags={"x": "y"})],
        [
            info,
            {"txn": {"appId": "etl", "version": 1, "lastUpdated": 1}},
            {"domainMetadata": domain},
            added("c"),
        ],
        [info, gone, added("d", deletionVector=vector), added("e", baseRowId=1, defaultRowCommitVersion=2)],
    ]


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in JSON that has a value: what it is in, and under which key."""
    for key in (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield value, key
        yield from nodes(value[key])


def mutate(commits: Commits, random: Random) -> None:
    lines = random.choice(commits)
    match random.randrange(7):
        case 0:
            lines.insert(random.randrange(len(lines) + 1), copy.deepcopy(random.choice(lines)))
        case 1 if len(lines) > 1:
            del lines[random.randrange(len(lines))]
        case 2:
            holder, key = random.choice([found for found in nodes(lines) if isinstance(found[0], dict)])
            del holder[key]
        case 3:
            _mutate_within(lines, random)
        case _:
            holder, key = random.choice(list(nodes(lines)))
            holder[key] = random.choice(ODD_VALUES)


def _mutate_within(lines: list[Any], random: Random) -> None:
    """Another value in JSON that is text itself, as schemas and statistics are."""
    texts = [(holder, key) for holder, key in nodes(lines) if key in ("schemaString", "stats")]
    if not texts:
        return
    holder, key = random.choice(texts)
    if isinstance(holder[key], str) and holder[key].startswith("{"):
        document = json.loads(holder[key])
        inner, name = random.choice(list(nodes(document)) or [(document, "new")])
        inner[name] = random.choice(ODD_VALUES)
        holder[key] = json.dumps(document)


def put(commits: Commits) -> OpenedTable:
    store = DictStore()
    for version, lines in enumerate(commits):
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        store.put(file_names.published_path(Version(version)), content.encode())
    return open_filesystem("", store=store)


def model(commits: Commits) -> set[str]:
    """The live files by the plainest of replays; what it cannot read must have been refused."""
    live: dict[tuple[str, str], str] = {}
    for lines in commits:
        actions = [
            line.get("add") or line.get("remove") for line in lines if line.get("add") or line.get("remove")
        ]
        adds = [line["add"] for line in lines if line.get("add")]
        for action in (action for action in actions if not any(action is add for add in adds)):
            live.pop((action["path"], _vector(action)), None)
        for add in adds:
            live[add["path"], _vector(add)] = add["path"]
    return set(live.values())


def _vector(action: Any) -> str:
    found = action.get("deletionVector")
    return "" if found is None else f"{found['storageType']}{found['pathOrInlineDv']}@{found.get('offset')}"


def uses(log: OpenedTable) -> Iterator[Callable[[], object]]:
    """What users do with a table, as far as no rows are read."""
    yield log.describe
    yield log.history
    yield log.domains
    yield lambda: log.check("t", data=False)
    yield lambda: _skipped(log)
    yield log.checkpoint
    yield lambda: log.compact_log(0, 2)
    yield log.verify


def _skipped(log: OpenedTable) -> object:
    found = log.snapshot()
    schema = schema_json.parse(found.state.metadata.schema_string)
    return data_skipping.keep_mask(found.bounds, from_sql.parse("id > 100", schema))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hostile_log_is_read_as_it_says_or_refused(seed: int) -> None:
    random = Random(seed)
    read = 0
    for _ in range(ROUNDS):
        commits = copy.deepcopy(history())
        for _ in range(random.randrange(1, 4)):
            mutate(commits, random)
        try:
            found = put(commits).snapshot().files.columns["path"].to_pylist()
        except HeadgateError:
            continue
        read += 1
        assert set(found) == model(commits), commits

    assert read > ROUNDS / 10


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_foreign_is_raised_by_what_is_done_with_a_hostile_log(seed: int) -> None:
    random = Random(100 + seed)
    for _ in range(ROUNDS // 3):
        commits = copy.deepcopy(history())
        mutate(commits, random)
        for use in uses(put(commits)):
            try:
                use()
            except HeadgateError:
                pass
            except Exception as foreign:
                raise AssertionError(f"{use} of {commits}") from foreign


def test_a_vector_with_a_flipped_bit_is_refused() -> None:
    random = Random(1)
    rows = DeletedRows.from_rows(range(0, 500, 7))
    vector = deletion_vectors.encode_inline(rows)
    for _ in range(ROUNDS):
        text = list(vector.path_or_inline_dv)
        text[random.randrange(len(text))] = random.choice("0aZ#é\x00~")
        try:
            found = deletion_vectors.parse_inline(_replaced(vector, "".join(text)))
        except HeadgateError:
            continue
        assert found.cardinality == rows.cardinality


def _replaced(vector: Any, text: str) -> Any:
    return type(vector)(
        storage_type=vector.storage_type, path_or_inline_dv=text, size_in_bytes=vector.size_in_bytes,
        cardinality=vector.cardinality,
    )  # fmt: skip
