"""The registry of handlers, the handlers of installed packages, and typed configurations."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import headgate
from headgate.errors import DomainConflict, InvalidRequest
from headgate.plugins import domain_handlers as domains
from headgate.plugins.registry import Registry
from headgate.protocol.actions import DomainMetadata
from headgate.protocol.domains import rules

A = DomainMetadata(domain="acme.a", configuration="1", removed=False)
B = DomainMetadata(domain="acme.a", configuration="2", removed=False)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has a registry of its own."""
    monkeypatch.setattr(domains, "_HANDLERS", Registry(domains.KIND))
    yield


def test_what_is_registered_is_used_until_it_is_not() -> None:
    headgate.domains.register("acme.a", domains.last_writer_wins)

    before = domains.registered()
    domains.unregister("acme.a")

    assert dict(before) == {"acme.a": domains.last_writer_wins}
    assert dict(domains.registered()) == {}


def test_the_handlers_someone_was_given_do_not_change() -> None:
    begun = domains.registered()
    domains.register("acme.a", domains.last_writer_wins)

    assert "acme.a" not in begun
    with pytest.raises(TypeError):
        begun["acme.a"] = domains.union  # type: ignore[index]


def test_a_domain_has_one_handler() -> None:
    domains.register("acme.a", domains.union)
    domains.register("acme.a", domains.union)

    with pytest.raises(InvalidRequest, match="has a handler already"):
        domains.register("acme.a", domains.last_writer_wins)

    assert domains.registered()["acme.a"] is domains.union


@pytest.mark.parametrize("name", ["delta.clustering", "delta.*", "DELTA.x", "Delta.*"])
def test_nobody_can_register_over_delta(name: str) -> None:
    with pytest.raises(InvalidRequest, match="belongs to Delta itself"):
        domains.register(name, domains.last_writer_wins)


@pytest.mark.parametrize("name", ["*", "acme*", "*.acme", "acme.*.x", "a*.*", ".*x"])
def test_a_prefix_ends_in_a_dot_and_a_star(name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"write a prefix as acme\.\*"):
        domains.register(name, domains.last_writer_wins)


def test_only_what_was_registered_can_be_unregistered_and_only_what_can_be_called_registered() -> None:
    with pytest.raises(InvalidRequest, match=r"no handler is registered for the metadata domain 'acme\.a'"):
        domains.unregister("acme.a")
    with pytest.raises(InvalidRequest, match="callable"):
        domains.register("acme.a", "union")  # type: ignore[arg-type]


def test_many_threads_register_at_once() -> None:
    names = [f"acme.{number}" for number in range(200)]

    def register(part: int) -> None:
        for name in names[part::4]:
            domains.register(name, domains.union)

    threads = [threading.Thread(target=register, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(domains.registered()) == set(names)


def install(folder: Path, package: str, domain: str, body: str) -> None:
    """A package that offers a handler, as pip would leave it."""
    (folder / f"{package}.py").write_text(f"def handler(base, winner, mine):\n    {body}\n")
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{domains.GROUP}]\n{domain} = {package}:handler\n")


def test_a_package_brings_its_handler_and_is_imported_when_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "acme_plugin", "acme.*", "return winner")
    monkeypatch.syspath_prepend(tmp_path)

    handlers = domains.registered()

    assert set(handlers) == {"acme.*"}
    assert "acme_plugin" not in sys.modules
    assert rules.resolve_domain(handlers, None, A, B) == A
    assert "acme_plugin" in sys.modules


def test_what_the_program_registers_comes_before_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "acme_other_plugin", "acme.a", "return winner")
    monkeypatch.syspath_prepend(tmp_path)

    domains.register("acme.a", domains.last_writer_wins)

    assert rules.resolve_domain(domains.registered(), None, A, B) == B


def test_a_broken_package_fails_only_where_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "acme_broken", "acme.a", "return winner")
    (tmp_path / "acme_broken.py").write_text("import acme_is_missing\n")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(DomainConflict, match="acme_broken:handler raised ModuleNotFoundError"):
        rules.resolve_domain(domains.registered(), None, A, B)


def test_two_packages_for_one_domain_are_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "acme_one", "acme.a", "return winner")
    install(tmp_path, "acme_two", "acme.a", "return mine")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(
        DomainConflict, match=r"acme_one:handler and acme_two:handler.*register the one to use"
    ):
        rules.resolve_domain(domains.registered(), None, A, B)


class Held:
    """A table that is nothing but its domains."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def domain(self, name: str) -> str | None:
        return self.found.get(name)

    def set_domain(self, name: str, configuration: str, *, since: int | None = None) -> int:
        self.found[name] = configuration
        return len(self.found)


def test_a_map_of_strings_comes_back_as_it_was_set() -> None:
    watermark, table = domains.StringMap("acme.watermark"), Held()
    assert watermark.get(table) == {}

    watermark.set(table, {"topic": "orders", "offset": "17", "é": '"'})

    assert watermark.get(table) == {"topic": "orders", "offset": "17", "é": '"'}
    assert (
        watermark.encode({"b": "2", "a": "1"})
        == watermark.encode({"a": "1", "b": "2"})
        == '{"a":"1","b":"2"}'
    )


@pytest.mark.parametrize("values", [{"a": 1}, {1: "a"}, {"a": None}, {"delta.a": "1"}, {"DELTA.a": "1"}])
def test_a_map_of_strings_has_nothing_else(values: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest, match=r"acme\.watermark"):
        domains.StringMap("acme.watermark").encode(values)


@pytest.mark.parametrize("configuration", ["", "[]", '{"a":1}', "{"])
def test_what_is_no_map_of_strings_is_refused(configuration: str) -> None:
    table = SimpleNamespace(domain=lambda name: configuration, set_domain=None)

    with pytest.raises(InvalidRequest, match="not a JSON object of strings"):
        domains.StringMap("acme.watermark").get(table)


def test_a_map_of_strings_is_not_for_the_domains_of_delta() -> None:
    with pytest.raises(InvalidRequest, match="belongs to Delta"):
        domains.StringMap("delta.clustering")
