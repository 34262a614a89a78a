"""Objects show themselves: plain text and HTML of one value, with other people's words taken as text."""

from html.parser import HTMLParser

import pytest

from headgate.calls import summary
from headgate.calls.summary import Grid, Summary

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\n\"'&\ud800 postgresql://me:s3cret@host/db"
ORDERS = Summary(
    "Table sales.orders",
    (("version", "3"), ("comment", ""), ("size", "1.5 KiB")),
    (Grid("columns", ("name", "type"), (("id", "long"), ("name", "string"))),),
)


class Tags(HTMLParser):
    """Which tags a page has, with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_summary_is_a_page_without_scripts_styles_or_links() -> None:
    page = Tags(summary.to_html(ORDERS))

    assert page.tags == {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "p"}
    assert page.attributes == {"style"}
    assert all(word in page.words for word in ("sales.orders", "version", "1.5 KiB", "id", "string"))
    assert "comment" not in page.words, "a fact without a text is left out"


@pytest.mark.parametrize(
    "hostile",
    [
        Summary(HOSTILE),
        Summary("t", ((HOSTILE, "1"),)),
        Summary("t", (("a", HOSTILE),)),
        Summary("t", grids=(Grid(HOSTILE, ("a",), (("1",),)),)),
        Summary("t", grids=(Grid("g", (HOSTILE,), (("1",),)),)),
        Summary("t", grids=(Grid("g", ("a",), ((HOSTILE,),)),)),
    ],
    ids=["title", "name", "value", "heading", "column", "cell"],
)
def test_words_of_others_stay_words(hostile: Summary) -> None:
    html = summary.to_html(hostile)

    assert "img" not in Tags(html).tags
    assert "onerror" not in Tags(html).attributes
    assert "\x1b" not in html
    assert "s3cret" not in html
    html.encode()


def test_many_rows_and_long_words_are_cut() -> None:
    many = Summary("t", grids=(Grid("g", ("n",), tuple((str(n),) for n in range(5_000))),))

    assert "… and 4,900 more" in Tags(summary.to_html(many)).words
    assert len(summary.to_html(many)) < 20_000
    assert len(summary.plain("x" * 10_000)) == 301


def test_one_line_leaves_out_what_is_not_known() -> None:
    assert summary.one_line("Table", "s.t", seen=None) == "Table('s.t')"
    assert summary.one_line("Table", "s.t", seen=3) == "Table('s.t', seen=3)"


def test_the_value_of_a_property_that_is_named_after_a_secret_is_not_shown() -> None:
    assert summary.pairs_text({"a": "1", "fs.s3a.secret.key": "abc"}) == "a=1, fs.s3a.secret.key=***"


def test_what_cannot_be_looked_up_is_one_line_and_the_reason() -> None:
    def unanswered() -> Summary:
        raise OSError("<b>no answer</b>")

    page = Tags(summary.html_or_line(unanswered, "Lake('<b>')"))

    assert page.tags == {"pre", "p"}
    assert page.words == "Lake('<b>')OSError: <b>no answer</b>"


def test_sizes_are_told_in_units() -> None:
    sizes = [summary.size_text(size) for size in (0, 1_023, 1_536, 2 << 20, 3 << 30, 4 << 40)]

    assert sizes == ["0 B", "1,023 B", "1.5 KiB", "2.0 MiB", "3.0 GiB", "4.0 TiB"]
