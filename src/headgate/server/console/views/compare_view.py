"""In what do two versions of a table differ? Columns, properties, features and domains, line by line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from headgate.protocol.log.replay import State
from headgate.server.console.views import schema_view
from headgate.server.console.views.schema_view import DefinitionView


class ChangeKind(Enum):
    """How a line differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One difference."""

    kind: ChangeKind
    part: str
    name: str
    before: str
    after: str


def definition_of(state: State) -> DefinitionView:
    """All that a state says of its table."""
    return schema_view.definition_view(state.protocol, state.metadata, state.domains)


def definition_changes(before: DefinitionView, after: DefinitionView) -> tuple[ChangeLine, ...]:
    """What differs between two definitions, part by part."""
    parts: tuple[tuple[str, Mapping[str, str], Mapping[str, str]], ...] = (
        ("column", _columns(before), _columns(after)),
        ("partitioning", _joined(before.partition_columns), _joined(after.partition_columns)),
        ("property", dict(before.properties), dict(after.properties)),
        ("feature", dict.fromkeys(before.features, ""), dict.fromkeys(after.features, "")),
        ("domain", dict(before.domains), dict(after.domains)),
        ("comment", _single(before.comment), _single(after.comment)),
    )
    return tuple(line for part, old, new in parts for line in _differences(part, old, new))


def _differences(part: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[ChangeLine]:
    for name in sorted({*old, *new}):
        if name not in old:
            yield ChangeLine(ChangeKind.ADDED, part, name, "", new[name])
        elif name not in new:
            yield ChangeLine(ChangeKind.REMOVED, part, name, old[name], "")
        elif old[name] != new[name]:
            yield ChangeLine(ChangeKind.CHANGED, part, name, old[name], new[name])


def _columns(found: DefinitionView) -> dict[str, str]:
    return {
        line.path: " ".join(
            (
                line.type,
                "" if line.nullable else "NOT NULL",
                *line.notes,
                f"“{line.comment}”" if line.comment else "",
            )
        ).strip()
        for line in found.columns
    }


def _joined(names: tuple[str, ...]) -> dict[str, str]:
    return {"partitioned by": ", ".join(names)} if names else {}


def _single(text: str) -> dict[str, str]:
    return {"comment": text} if text else {}
