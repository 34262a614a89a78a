"""Which properties does a table keep when another one is put in its place?"""

from collections.abc import Mapping

from headgate.protocol import property_values
from headgate.protocol.features import coordinator_properties
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import table_properties
from headgate.protocol.metadata.alter_properties import CATALOG_PROPERTIES


def kept_properties(state: State) -> Mapping[str, str]:
    """The properties that stay whatever the new table says."""
    present = state.metadata.configuration
    found = dict(coordinator_properties.properties_kept_on_replace(present))
    # Ids are never given twice, and versions before the change stay as protected as they were.
    found |= {
        name: present[name]
        for name in (property_values.MAX_COLUMN_ID, property_values.PROTECTED_BEFORE)
        if name in present
    }
    if state.protocol.is_catalog_managed:
        found |= {
            name: value
            for name, value in present.items()
            if name in table_properties.TIMESTAMP_PROPERTIES
            or name in CATALOG_PROPERTIES
            or _is_unknown(name)
        }
    return found


def _is_unknown(name: str) -> bool:
    """Whether it is a property of Delta's that only newer clients know (P52)."""
    known = table_properties.find_property(name) is not None or name.startswith(
        table_properties.CONSTRAINT_PREFIX
    )
    return name.startswith(table_properties.PREFIX) and not known
