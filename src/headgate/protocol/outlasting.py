"""Which properties does a table keep when another one is put in its place?"""

from collections.abc import Mapping

from headgate.protocol import coordination, properties, upkeep
from headgate.protocol.property_changes import CATALOG_KEPT
from headgate.protocol.replay import State
from headgate.protocol.schema import assign


def kept(state: State) -> Mapping[str, str]:
    """The properties that stay whatever the new table says."""
    present = state.metadata.configuration
    found = dict(coordination.retained(present))
    # Ids are never given twice, and versions before the change stay as protected as they were.
    found |= {name: present[name] for name in (assign.HIGHEST, upkeep.PROTECTED_BEFORE) if name in present}
    if state.protocol.is_catalog_managed:
        found |= {
            name: value
            for name, value in present.items()
            if name in properties.STAMPS or name in CATALOG_KEPT or _is_unknown(name)
        }
    return found


def _is_unknown(name: str) -> bool:
    """Whether it is a property of Delta's that only newer clients know (P52)."""
    known = properties.find(name) is not None or name.startswith(properties.CONSTRAINT)
    return name.startswith(properties.PREFIX) and not known
