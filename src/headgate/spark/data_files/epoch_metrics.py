"""One batch of a stream, as the history of a table tells of it."""

from dataclasses import dataclass

from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.table.transaction import Operation

STREAMING_UPDATE = "STREAMING UPDATE"


@dataclass(frozen=True, slots=True)
class Epoch:
    """Which batch of which query."""

    query_id: str
    number: int
    output_mode: str

    def operation(self, written: WrittenFiles, *, removed: int = 0) -> Operation:
        """What the commit of this batch says of itself, in Delta's names."""
        parameters = {
            "outputMode": self.output_mode.capitalize(),
            "queryId": self.query_id,
            "epochId": str(self.number),
        }
        metrics = {
            "numAddedFiles": str(len(written.adds)),
            "numRemovedFiles": str(removed),
            "numOutputRows": str(written.rows),
            "numOutputBytes": str(sum(add.size for add in written.adds)),
        }
        return Operation(STREAMING_UPDATE, parameters, metrics)
