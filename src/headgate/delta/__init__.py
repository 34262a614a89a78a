"""The Python API of Delta Lake, ``delta.tables``, on lakes and paths: change the import, and nothing else.

from headgate.delta import DeltaTable, configure_spark_with_delta_pip
from headgate.delta.tables import DeltaMergeBuilder, DeltaTableBuilder, IdentityGenerator
from headgate.delta.exceptions import ConcurrentAppendException
"""

from headgate.delta.pip_utils import configure_spark_with_delta_pip
from headgate.delta.tables import DeltaTable

__version__ = "4.4.1"
"""The version of delta-spark whose API this is."""
__all__ = ["DeltaTable", "__version__", "configure_spark_with_delta_pip"]
