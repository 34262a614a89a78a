"""Openers of catalogs: by the scheme of an address, each once, and loaded only when they are needed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import CatalogTarget
from headgate.errors import InvalidRequest
from headgate.plugins import catalogs, registry
from headgate.plugins.registry import Registry
from headgate.settings import Settings
from tests.support.minimal_catalog import MinimalCatalog


def minimal(target: CatalogTarget) -> LakeCatalog:
    return MinimalCatalog(target.place)


@contextmanager
def registered(scheme: str, opener: Callable[[CatalogTarget], LakeCatalog]) -> Iterator[None]:
    catalogs.register(scheme, opener)
    try:
        yield
    finally:
        catalogs.unregister(scheme)


def test_a_catalog_is_opened_by_who_registered_its_scheme() -> None:
    with registered("there", minimal):
        assert catalogs.open_catalog(CatalogTarget("there://x")).warehouse == "there://x"

    with pytest.raises(InvalidRequest, match="not there://"):
        catalogs.open_catalog(CatalogTarget("there://x"))


def test_a_folder_is_opened_without_being_told_how(tmp_path: Path) -> None:
    opened = catalogs.open_catalog(CatalogTarget(str(tmp_path), settings=Settings(unpublished_commits=1)))
    try:
        assert opened.warehouse == str(tmp_path / "warehouse")
        assert opened.principal == "owner"
    finally:
        opened.close()


@pytest.mark.parametrize("scheme", ["there", "postgresql", "file"])
def test_a_scheme_has_one_opener(scheme: str) -> None:
    with registered("there", minimal), pytest.raises(InvalidRequest, match=f"opens {scheme}:// already"):
        catalogs.register(scheme, partial(minimal))


def test_only_a_function_opens_anything() -> None:
    nothing: Any = "postgresql://x"

    with pytest.raises(InvalidRequest, match="a str is none"):
        catalogs.register("there", nothing)


@pytest.mark.parametrize("scheme", ["nobody", "postgresql"])
def test_what_was_not_registered_is_not_unregistered(scheme: str) -> None:
    with pytest.raises(InvalidRequest, match="nothing is registered"):
        catalogs.unregister(scheme)


def test_an_installed_package_may_open_more(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = [EntryPoint("far", f"{__name__}:minimal", catalogs.GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda group: tuple(offers))
    monkeypatch.setattr(catalogs, "_OPENERS", Registry(catalogs.KIND))

    assert catalogs.open_catalog(CatalogTarget("far://x")).warehouse == "far://x"

    offers.append(EntryPoint("far", f"{__name__}:registered", catalogs.GROUP))
    monkeypatch.setattr(catalogs, "_OPENERS", Registry(catalogs.KIND))
    with pytest.raises(InvalidRequest, match="more than one"):
        catalogs.open_catalog(CatalogTarget("far://x"))
