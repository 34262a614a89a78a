"""A flag is stronger than a variable, a variable than the file; what makes no sense is refused."""

from pathlib import Path

import pytest

from headgate.errors import InvalidRequest
from headgate.server.settings import ROWS, ServerSettings, load_settings

FILE = """
[server]
port = 1000
threads = 7
drain_seconds = 5

[[lakes]]
name = "main"
place = "/data/lake"

[[lakes]]
name = "other"
place = "postgresql://u:hidden@db/x"
warehouse = "s3://bucket"

[[webhooks]]
name = "billing"
lake = "main"
url = "https://billing.example/hooks"
secret_variable = "BILLING_SECRET"
kinds = ["commit"]
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "server.toml"
    path.write_text(text)
    return path


def test_without_anything_there_are_the_defaults() -> None:
    assert load_settings(None, {}, {}) == ServerSettings()


def test_each_place_is_stronger_than_the_one_before(tmp_path: Path) -> None:
    file = _written(tmp_path, FILE)
    environment = {"HEADGATE_SERVER_PORT": "2000", "HEADGATE_SERVER_AUTH": "false", "OTHER": "x"}

    of_file = load_settings(file, {}, {})
    with_variables = load_settings(file, environment, {})
    with_flags = load_settings(file, environment, {"port": 3000, "threads": None})

    assert (of_file.port, of_file.threads, of_file.drain_seconds) == (1000, 7, 5.0)
    assert (with_variables.port, with_variables.auth, with_variables.threads) == (2000, False, 7)
    assert (with_flags.port, with_flags.auth, with_flags.threads) == (3000, False, 7)


def test_lakes_and_webhooks_come_from_the_file(tmp_path: Path) -> None:
    made = load_settings(_written(tmp_path, FILE), {}, {})

    assert [(lake.name, lake.warehouse) for lake in made.lakes] == [("main", None), ("other", "s3://bucket")]
    assert [hook.name for hook in made.webhooks] == ["billing"]
    assert "hidden" not in repr(made)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[server]\nprot = 1", "no setting is called"),
        ("[server]\nport = '1'", "takes a value of type int"),
        ("[server]\nport = true", "takes a value of type int"),
        ("[server]\nthreads = 0", "threads is more than 0"),
        ("[server]\nport = 70000", "port is one from 0 to 65535"),
        ("[server]\nlog_format = 'xml'", "log_format is json or text"),
        ("[sever]\nport = 1", "nothing of a server"),
        ("[server", "cannot be read"),
        ("[[lakes]]\nname = 'a'", r"each of \[\[lakes\]\]"),
        ("[[lakes]]\nname = 'A'\nplace = 'x'", "lower-case"),
        ("[[lakes]]\nname = 'a/b'\nplace = 'x'", "lower-case"),
        ("[[lakes]]\nname='a'\nplace='x'\n[[lakes]]\nname='a'\nplace='y'", "its own name"),
        ("[[webhooks]]\nname='a'\nlake='b'\nurl='https://x'", "needs a secret"),
        ("[[webhooks]]\nname='a'\nlake='b'\nurl='https://x'\nsecret='no'", r"each of \[\[webhooks\]\]"),
        ("[[webhooks]]\nname='a'\nlake='b'\nurl='https://x'\nsecret_file='f'\nkinds=['x']", "webhooks"),
        (
            "[[lakes]]\nname='a'\nplace='x'\n"
            "[[webhooks]]\nname='a'\nlake='b'\nurl='https://x'\nsecret_file='f'",
            "of a lake that is served",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        load_settings(_written(tmp_path, text), {}, {})


def test_a_variable_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="HEADGATE_SERVER_PORT='many'"):
        load_settings(None, {"HEADGATE_SERVER_PORT": "many"}, {})


def test_every_setting_has_a_row_that_says_what_it_is() -> None:
    names = {row.name for row in ROWS}

    assert names == {*ServerSettings.__dataclass_fields__} - {"issuers", "lakes", "stores", "webhooks"}
    assert all(row.sentence.endswith(".") and row.variable.isupper() for row in ROWS)
    for row in ROWS:
        assert getattr(ServerSettings(), row.name) == row.default
        assert row.default is None or type(row.default) is row.type
