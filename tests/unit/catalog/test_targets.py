"""Where a lake is, and how that is shown to people."""

import pytest
from sqlalchemy import make_url

from headgate.catalog import targets
from headgate.catalog.targets import CatalogTarget


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://host/db",
        "postgresql://me@host:5432/db",
        "postgresql://me:secret@host:5432/db",
        "postgres://me:se%40cret@host/db",
        "postgresql://me:se/cret@host/db?sslmode=require",
        "postgresql://:secret@host/db",
    ],
)
def test_an_address_is_shown_without_its_password(url: str) -> None:
    """As the database engine shows it, which need not be loaded for this."""
    shown = targets.without_password(url)

    expected = make_url(url.replace("postgres:", "postgresql:")).render_as_string(hide_password=True)
    assert shown == expected
    assert "secret" not in shown
    assert "cret" not in shown


def test_a_password_among_the_options_is_not_shown_either() -> None:
    assert "secret" not in targets.without_password("postgresql://host/db?user=me&password=secret")


def test_a_folder_is_shown_as_it_is() -> None:
    assert targets.without_password("/lakes/a:b@c") == "/lakes/a:b@c"
    assert not targets.is_postgresql("/lakes/postgresql")


def test_a_target_keeps_its_address_to_itself() -> None:
    assert "secret" not in repr(CatalogTarget("postgresql://me:secret@host/db"))
