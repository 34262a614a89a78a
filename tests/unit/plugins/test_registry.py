"""The registry of one kind of plugin: whatever the kind, here plain functions of nothing."""

import threading
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint

import pytest

from headgate.errors import InvalidRequest
from headgate.plugins import registry
from headgate.plugins.registry import PluginKind, Registry
from tests.support.waiting import PATIENCE_SECONDS

Opener = Callable[[], str]


def _check(name: str, opener: Opener) -> None:
    if not callable(opener):
        raise InvalidRequest(f"the opener {name!r} cannot be called")


def _from_offers(name: str, offers: Sequence[EntryPoint]) -> Opener:
    return lambda: f"{name} of {' and '.join(offer.value for offer in offers)}"


def _file() -> str:
    return "file"


def _https() -> str:
    return "https"


KIND: PluginKind[Opener] = PluginKind(
    "headgate.tests",
    check=_check,
    from_offers=_from_offers,
    taken="there is {name!r} already",
    absent="there is no {name!r}",
    built_in={"file": _file},
)


@pytest.fixture
def offers(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """What packages offer; it is looked for by the group of the kind."""
    offered: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: tuple(o for o in offered if o.group == group))
    return offered


def test_what_is_built_in_registered_and_installed_is_listed_by_name(offers: list[EntryPoint]) -> None:
    offers += [EntryPoint("azure", "acme:open", KIND.group), EntryPoint("other", "acme:other", "elsewhere")]
    openers = Registry(KIND)

    openers.register("https", _https)

    assert list(openers.registered()) == ["azure", "file", "https"]
    assert openers.find("https") is _https
    assert openers.find("nobody") is None


def test_what_the_program_registers_comes_before_what_packages_offer(offers: list[EntryPoint]) -> None:
    offers += [EntryPoint("https", "acme:open", KIND.group), EntryPoint("file", "acme:open", KIND.group)]
    openers = Registry(KIND)

    openers.register("https", _https)

    assert [opener() for opener in openers.registered().values()] == ["file", "https"]
    openers.unregister("https")
    assert openers.registered()["https"]() == "https of acme:open"


def test_all_offers_of_a_name_are_one_plugin(offers: list[EntryPoint]) -> None:
    offers += [EntryPoint("s3", "one:open", KIND.group), EntryPoint("s3", "two:open", KIND.group)]

    assert Registry(KIND).registered()["s3"]() == "s3 of one:open and two:open"


def test_packages_are_looked_for_once(offers: list[EntryPoint]) -> None:
    openers = Registry(KIND)
    before = openers.registered()

    offers.append(EntryPoint("late", "acme:open", KIND.group))

    assert openers.registered() is before


def test_the_same_plugin_may_be_registered_again_and_no_other(offers: list[EntryPoint]) -> None:
    openers = Registry(KIND)
    openers.register("https", _https)
    openers.register("https", _https)

    for name in ("https", "file"):
        with pytest.raises(InvalidRequest, match=f"there is '{name}' already"):
            openers.register(name, lambda: "another")
    for name in ("file", "nobody"):
        with pytest.raises(InvalidRequest, match=f"there is no '{name}'"):
            openers.unregister(name)
    with pytest.raises(InvalidRequest, match="cannot be called"):
        openers.register("text", "text")  # type: ignore[arg-type]


def test_what_was_given_does_not_change(offers: list[EntryPoint]) -> None:
    openers = Registry(KIND)
    before = openers.registered()

    openers.register("https", _https)

    assert list(before) == ["file"]
    with pytest.raises(TypeError):
        before["https"] = _https  # type: ignore[index]


def test_a_package_may_register_while_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even from another thread, which the one that imports waits for."""

    def offering(name: str, offers: Sequence[EntryPoint]) -> Opener:
        other = threading.Thread(target=openers.register, args=("https", _https), daemon=True)
        other.start()
        other.join(timeout=PATIENCE_SECONDS)
        assert not other.is_alive()
        return _file

    kind: PluginKind[Opener] = PluginKind("g", _check, offering, KIND.taken, KIND.absent)
    monkeypatch.setattr(registry, "entry_points", lambda group: (EntryPoint("azure", "acme:open", group),))
    openers: Registry[Opener] = Registry(kind)

    assert set(openers.registered()) == {"azure", "https"}
