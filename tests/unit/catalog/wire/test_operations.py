"""Every method of every port is an operation, once, with its own path."""

from typing import Protocol, get_type_hints

import pytest

from headgate.catalog.ports.catalog import LakeCatalog, OwnershipPorts, UnmanagedTablePorts, Upkeep
from headgate.catalog.wire import operations
from headgate.catalog.wire.operations import OPERATIONS, PARTS, PortOperation


def test_every_method_of_every_port_has_a_row() -> None:
    asked = [(operation.part.port, operation.name) for operation in OPERATIONS]
    owed = [(part.port, name) for part in PARTS for name, _ in operations.methods_of(part.port)]

    assert sorted(map(str, asked)) == sorted(str(each) for each in owed if each not in operations.NOT_SENT)


def test_every_port_of_a_catalog_is_a_part() -> None:
    whole = set(LakeCatalog.__bases__) - {Upkeep, OwnershipPorts, UnmanagedTablePorts, Protocol}
    named = {
        get_type_hints(getattr(member, "fget", None) or member)["return"]
        for port in (Upkeep, OwnershipPorts, UnmanagedTablePorts)
        for _, member in operations.methods_of(port)
    }

    assert {part.port for part in PARTS} == whole | named


def test_paths_are_distinct() -> None:
    paths = [operation.path for operation in OPERATIONS]

    assert len(set(paths)) == len(paths)
    assert {"commits/propose", "leases/on_version", "books/read"} <= set(paths)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.path)
def test_a_row_says_what_its_method_does(operation: PortOperation) -> None:
    assert operation.summary.rstrip().endswith((".", ":"))
    assert all(parameter.annotation is not None for parameter in operation.signature())
