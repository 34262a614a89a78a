"""What may enter a log: one known action a line, and nothing that two readers could read in two ways."""

import pytest

from headgate.protocol.actions import (
    AddCdcFile,
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    TxnId,
)
from headgate.protocol.log import codec, strict_codec
from headgate.protocol.log.strict_codec import Breach
from tests.support.attempts import with_vector
from tests.support.commits import MANAGED, add, metadata, remove

INFO = CommitInfo(in_commit_timestamp=EpochMillis(5), txn_id=TxnId("t"))
EVERY = (
    INFO, MANAGED, metadata(), add("a"), remove("b"), AppTransaction(app_id="s", version=1),
    DomainMetadata(domain="d", configuration="{}", removed=False),
    AddCdcFile(path="c", partition_values={}, size=1),
)  # fmt: skip
ADD = '{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true%s}}'
REMOVE = '{"remove":{"path":"a","dataChange":true%s}}'
DEEPEST = 64
SAID = '{"commitInfo":{"inCommitTimestamp":5,"txnId":"t"%s}}'


def breach(*lines: str | bytes) -> Breach:
    found = strict_codec.parse(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    assert isinstance(found, Breach)
    return found


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_every_kind_of_action_may_be_in_a_commit() -> None:
    assert strict_codec.parse(codec.encode(EVERY)) == EVERY
    assert set(strict_codec.ACTION_NAMES) == {type(action) for action in EVERY}
    assert strict_codec.parse(codec.encode(EVERY).removesuffix(b"\n")) == EVERY
    vector = (INFO, with_vector(add("a"), "v"))
    assert strict_codec.parse(codec.encode(vector)) == vector


@pytest.mark.parametrize(
    "line",
    [
        "", " ", "{", "[]", "{}", '{"unheardOf":{}}', '{"add":{"path":1}}', ADD % "" + ADD % "", "null",
        b'{"txn":{"appId":"\xff","version":1}}', '{"txn":{"appId":"s","version":1},"add":null,"cdc":1}',
        '{"txn":{"appId":"s","version":1},"unheardOf":{}}', b"\xff" + b"[{" * 100,
        '{"txn":{"appId":"s","version":1},"protocol":{"minReaderVersion":1,"minWriterVersion":2}}',
        '{"txn":\r{"appId":"s","version":1}}', '{"txn":{"appId":"s","version":9223372036854775808}}',
        b'{"txn":{"appId":"s","version":1,"unheardOf":"\xff"}}', ADD % ',"stats":"[]"',
    ],
)  # fmt: skip
def test_what_is_not_one_known_action_is_refused_by_its_line(line: str | bytes) -> None:
    found = breach(SAID % "", line, ADD % "")

    assert (found.line, found.kind, found.code) == (2, "", None)


def test_an_empty_commit_is_none() -> None:
    assert breach("").line == 1
    assert breach(ADD % "", "", "").line == 2


@pytest.mark.parametrize(
    ("lines", "number", "kind", "name"),
    [
        ([SAID % "", ADD % ',"path":"b"'], 2, "add", "path"),
        ([SAID % "", ADD % ',"dataChange":false'], 2, "add", "dataChange"),
        ([SAID % "", REMOVE % ',"path":"b"'], 2, "remove", "path"),
        ([SAID % "", ADD % "", REMOVE % ',"dataChange":false'], 3, "remove", "dataChange"),
        ([SAID % ',"txnId":"u"', ADD % ""], 1, "commitInfo", "txnId"),
        ([SAID % ',"inCommitTimestamp":6'], 1, "commitInfo", "inCommitTimestamp"),
        ([SAID % "", ADD.replace('{"add"', '{"add":null,"add"') % ""], 2, "add", "add"),
        ([SAID.replace('{"commit', '{"commitInfo":null,"commit') % ""], 1, "commitInfo", "commitInfo"),
        ([SAID % "", ADD % ',"p\\u0061th":"b"'], 2, "add", "path"),
        ([SAID % "", ADD % ',"path" :"b"'], 2, "add", "path"),
        ([SAID % "", ADD % ',"path"\t:"b"'], 2, "add", "path"),
        ([SAID % "", ADD % ',"tags":{"a\\\\":"1"},"path":"b"'], 2, "add", "path"),
        ([SAID % "", ADD % ',"tags":{"a":"\\":"},"path":"b"'], 2, "add", "path"),
        ([SAID % "", ADD % ',"tags":{"a\\\\":"1","a\\\\":"2"}'], 2, "add", "a\\"),
        ([SAID % "", ADD % ',"clusteringProvider":"\\u0022:","size":2,"size":3'], 2, "add", "size"),
        (
            [SAID % "", ADD % ',"path" :"b","tags"\t:{"a\\\\":"1"},"stats"\t:"{}","size":2,"size":3'],
            2, "add", "path",
        ),
        ([SAID % "", ADD % ',"size":2'], 2, "add", "size"),
        ([SAID % "", ADD % ',"partitionValues":{"p":"1"}'], 2, "add", "partitionValues"),
        ([SAID % "", ADD % ',"tags":{"t":"1","t":"2"}'], 2, "add", "t"),
        ([SAID % ',"operation":"A","operation":"B"', ADD % ""], 1, "commitInfo", "operation"),
        ([SAID % ',"job":{"j":[{"k":1,"k":1}]}', ADD % ""], 1, "commitInfo", "k"),
        ([SAID % "", '{"remove":null,' + REMOVE[1:] % ""], 2, "remove", "remove"),
        (['{"txn":{"appId":"s","version":1,"version":2}}'], 1, "txn", "version"),
        ([ADD % ',"deletionVector":{"storageType":"u","pathOrInlineDv":"a","sizeInBytes":1,"cardinality":1,'
          '"cardinality":2}'], 1, "add", "cardinality"),
        (['{"commitInfo":{"operationMetrics":{"a":[{"b":1,"b":2}]}}}', REMOVE % "",
          '{"txn":{"appId":"s","version":1}}'], 1, "commitInfo", "b"),
    ],
)  # fmt: skip
def test_what_an_object_says_twice_is_refused(lines: list[str], number: int, kind: str, name: str) -> None:
    """Of two values some readers take the first, and some the last."""
    found = breach(*lines)

    assert (found.line, found.kind) == (number, kind)
    assert repr(name) in found.why


def test_words_in_strings_and_in_other_objects_are_not_said_twice() -> None:
    for content in (
        [SAID % ',"operationParameters":{"path":"a","txnId":"t","add":1}', ADD % ""],
        [SAID % "", ADD % ',"tags":{"path":"\\"path\\"","dataChange":"x"}'],
        [SAID % "", ADD % "", ADD % "", REMOVE % ""],
        [SAID % ',"clusterId":null,"unheardOf":{"a":1,"b":{"a":1}}', ADD % ',"tags":{"a\\\\":"1"}'],
        [
            SAID % "",
            '{ "add" : {"path": "a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}',
        ],
    ):
        assert isinstance(strict_codec.parse("\n".join(content).encode()), tuple)


def test_json_may_be_nested_only_so_deep() -> None:
    deep = SAID % f',"job":{nested(DEEPEST - 2)}'
    deeper = SAID % f',"job":{nested(DEEPEST - 1)}'

    assert isinstance(strict_codec.parse(deep.encode()), tuple)
    assert "levels deep" in breach(deeper).why
    wide = SAID % f',"job":[{",".join(["[]"] * 2 * DEEPEST)}]'
    assert isinstance(strict_codec.parse(wide.encode()), tuple)


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("", 0), ("1", 0), ("{}", 1), ('{"a":[{}]}', 3), ("[][]", 1), ("[[]][]", 2), ('"[[["', 0),
        ('["\\"[[[", []]', 2), ("[[],[[]]]", 3), ('["\\\\", [[]]]', 3), ('["]]]", [[]]]', 3), ("[[[", 3),
    ],
)  # fmt: skip
def test_what_stands_in_strings_does_not_count_as_depth(text: str, levels: int) -> None:
    assert strict_codec.json_depth(text) == levels


def test_statistics_may_be_nested_only_so_deep() -> None:
    deep = '{\\"minValues\\":{\\"a\\":%s}}'

    assert "nested more than 64" in breach(ADD % f',"stats":"{deep % nested(DEEPEST)}"').why
    assert isinstance(strict_codec.parse((ADD % f',"stats":"{deep % nested(5)}"').encode()), tuple)


def test_too_deep_is_one_level_more_than_the_deepest() -> None:
    assert not strict_codec.is_too_deep(nested(DEEPEST))
    assert not strict_codec.is_too_deep(nested(DEEPEST) + "[]")
    assert strict_codec.is_too_deep(nested(DEEPEST + 1))
    assert not strict_codec.is_too_deep("[]" * (DEEPEST + 1))
    assert strict_codec.is_too_deep('{"a":' * (DEEPEST + 1))


def test_a_line_may_end_as_files_of_windows_do() -> None:
    assert not isinstance(
        strict_codec.parse((SAID % "" + "\r\n" + ADD % "" + "\r\n").encode()), strict_codec.Breach
    )


def test_a_number_of_thousands_of_digits_is_no_obstacle_to_finding_names() -> None:
    assert strict_codec.duplicate_key('{"a":%s,"b":{"c":1,"c":2}}' % ("1" * 5000)) == "c"


@pytest.mark.parametrize("place", [0, 1, -1])
def test_a_line_ends_only_where_it_ends(place: int) -> None:
    """Some readers begin another line at a carriage return, wherever it is."""
    line = codec.encode((add("x"),)).rstrip(b"\n")
    where = place % len(line)

    assert isinstance(strict_codec.parse(line[:where] + b"\r" + line[where:]), Breach)
    assert not isinstance(strict_codec.parse(line), Breach)
