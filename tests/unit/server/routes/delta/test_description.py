"""The etag of a table: the same for the same metadata, and for no other."""

import msgspec
import pytest

from headgate.catalog.ports.commits import TableId, TableState
from headgate.protocol.actions import DomainMetadata, Protocol
from headgate.server.routes.delta import description
from headgate.server.routes.delta.description import metadata_etag
from tests.support.commits import MANAGED, metadata

TABLE = TableId("t")
CLUSTERED = DomainMetadata(
    domain="delta.clustering", configuration='{"clusteringColumns":[["id"]]}', removed=False
)
MARK = DomainMetadata(domain="delta.rowTracking", configuration='{"rowIdHighWaterMark":7}', removed=False)
STATE = TableState(MANAGED, metadata(a="1", b="2"), {})


def test_the_order_of_features_and_properties_does_not_matter() -> None:
    shuffled = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=tuple(reversed(MANAGED.reader_features or ())),
        writer_features=tuple(reversed(MANAGED.writer_features or ())),
    )

    assert metadata_etag(TABLE, TableState(shuffled, metadata(b="2", a="1"), {})) == metadata_etag(
        TABLE, STATE
    )


def test_the_mark_of_row_ids_and_transactions_do_not_matter() -> None:
    marked = TableState(MANAGED, metadata(a="1", b="2"), {MARK.domain: MARK}, {})

    assert metadata_etag(TABLE, marked) == metadata_etag(TABLE, STATE)


@pytest.mark.parametrize(
    "other",
    [
        TableState(MANAGED, metadata(a="1", b="3"), {}),
        TableState(MANAGED, metadata(a="1"), {}),
        TableState(MANAGED, msgspec.structs.replace(metadata(a="1", b="2"), description="x"), {}),
        TableState(MANAGED, metadata(a="1", b="2"), {CLUSTERED.domain: CLUSTERED}),
        TableState(Protocol(min_reader_version=1, min_writer_version=2), metadata(a="1", b="2"), {}),
    ],
)
def test_everything_else_does(other: TableState) -> None:
    assert metadata_etag(TABLE, other) != metadata_etag(TABLE, STATE)


def test_two_tables_never_share_one() -> None:
    assert metadata_etag(TableId("other"), STATE) != metadata_etag(TABLE, STATE)


def test_domains_that_cannot_be_read_are_as_if_they_were_not_there() -> None:
    odd = {"delta.clustering": msgspec.structs.replace(CLUSTERED, configuration="nonsense")}

    assert description.clustering_columns(odd) is None
    assert description.row_id_high_water_mark({"delta.rowTracking": MARK}) == 7
