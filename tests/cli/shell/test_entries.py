"""Where statements end, and which lines are commands."""

import pytest

from headgate.cli.shell.entries import Entry, EntryReader, is_complete


def read(text: str) -> list[Entry]:
    reader = EntryReader()
    found = [*reader.feed(text)]
    last = reader.finish()
    return found if last is None else [*found, last]


def test_a_statement_ends_at_its_semicolon_and_may_have_several_lines() -> None:
    assert read("SELECT 1;\nSELECT\n  2;") == [Entry("SELECT 1", 1), Entry("SELECT\n  2", 2)]


def test_several_statements_stand_on_one_line() -> None:
    assert read("SELECT 1; SELECT 2;\n\nSELECT 3") == [
        Entry("SELECT 1", 1),
        Entry("SELECT 2", 1),
        Entry("SELECT 3", 3),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ';'",
        'SELECT ";"',
        "SELECT `a;b`",
        "SELECT 1 -- ; no\n",
        "SELECT /* ; /* ; */ ; */ 1",
        "SELECT $$;$$",
    ],
)
def test_a_semicolon_in_quotes_or_a_comment_ends_nothing(text: str) -> None:
    assert [entry.text for entry in read(text + "\n;")] == [text.strip()]


def test_a_comment_is_no_statement() -> None:
    assert read("-- first\n;;\n/* second\n; */\nSELECT 1; -- third") == [Entry("SELECT 1", 5)]


def test_a_line_with_a_backslash_is_a_command_where_a_statement_may_begin() -> None:
    assert read("\\d sales.orders\nSELECT 1,\n\\x\n;") == [
        Entry("\\d sales.orders", 1),
        Entry("SELECT 1,\n\\x", 2),
    ]
    assert read("\\x")[0].is_command


@pytest.mark.parametrize(
    "text", ["", "  ", "SELECT 1;", "-- nothing", "/* nothing */", "\\d", "SELECT 1; -- done"]
)
def test_what_is_complete_is_run_at_once(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize("text", ["SELECT 1", "SELECT ';", "/* a", "SELECT 1; /* b", "SELECT 1; SELECT"])
def test_what_is_not_complete_goes_on_in_the_next_line(text: str) -> None:
    assert not is_complete(text)
