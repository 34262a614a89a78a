"""What is refused, by name."""

import pytest

from headgate.errors import UnsupportedFeature
from headgate.protocol import features
from headgate.protocol.actions import Metadata, Protocol
from tests.support.commits import MANAGED, PROTOCOL, metadata


def protocol(*, readers: tuple[str, ...] = (), writers: tuple[str, ...] = ()) -> Protocol:
    return Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=readers,
        writer_features=(*readers, *writers),
    )


@pytest.mark.parametrize("fine", [PROTOCOL, MANAGED, protocol(writers=("domainMetadata", "appendOnly"))])
def test_what_we_understand_is_accepted(fine: Protocol) -> None:
    features.check_writable(fine, metadata())


def test_an_unknown_reader_feature_refuses_reads_and_is_named() -> None:
    with pytest.raises(UnsupportedFeature, match="quantumFiles") as caught:
        features.check_readable(protocol(readers=("quantumFiles", "timestampNtz")), metadata())

    assert caught.value.fields["features"] == ("quantumFiles",)


def test_an_unknown_writer_feature_refuses_writes_only() -> None:
    strange = protocol(writers=("quantumWrites",))

    features.check_readable(strange, metadata())
    with pytest.raises(UnsupportedFeature, match="quantumWrites") as caught:
        features.check_writable(strange, metadata())
    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"


@pytest.mark.parametrize(("reader", "writer"), [(4, 7), (3, 8)])
def test_a_newer_protocol_is_refused(reader: int, writer: int) -> None:
    newer = Protocol(min_reader_version=reader, min_writer_version=writer)

    with pytest.raises(UnsupportedFeature) as caught:
        features.check_writable(newer, metadata())
    assert caught.value.code == "DELTA_INVALID_PROTOCOL_VERSION"


@pytest.mark.parametrize(
    ("active", "name"),
    [
        (metadata(**{"delta_constraints_c": "id > 0"}), "checkConstraints"),
        (metadata(delta_columnMapping_mode="name"), "columnMapping"),
        (
            metadata(
                '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,'
                '"metadata":{"delta.generationExpression":"1"}}]}'
            ),
            "generatedColumns",
        ),
    ],
)
def test_a_legacy_protocol_is_writable_until_a_feature_is_used(active: Metadata, name: str) -> None:
    legacy = Protocol(min_reader_version=1, min_writer_version=6)

    features.check_writable(legacy, metadata())
    with pytest.raises(UnsupportedFeature, match=name):
        features.check_writable(legacy, active)


@pytest.mark.parametrize("reader", [protocol(writers=("columnMapping",)), PROTOCOL])
def test_a_mapping_of_columns_that_readers_are_not_told_of_is_refused(reader: Protocol) -> None:
    with pytest.raises(UnsupportedFeature, match="columnMapping") as caught:
        features.check_readable(reader, metadata(delta_columnMapping_mode="name"))

    assert caught.value.code == "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH"


def test_a_mapping_of_columns_is_readable_where_readers_are_told() -> None:
    mapped = metadata(delta_columnMapping_mode="name")

    features.check_readable(protocol(readers=("columnMapping",)), mapped)
    features.check_readable(Protocol(min_reader_version=2, min_writer_version=5), mapped)


@pytest.mark.parametrize(
    "malformed",
    [
        Protocol(
            min_reader_version=3, min_writer_version=7, reader_features=("timestampNtz",), writer_features=()
        ),
        Protocol(min_reader_version=3, min_writer_version=7, writer_features=()),
        Protocol(min_reader_version=3, min_writer_version=7, reader_features=()),
        Protocol(min_reader_version=3, min_writer_version=6, reader_features=()),
        Protocol(min_reader_version=1, min_writer_version=2, writer_features=("appendOnly",)),
        Protocol(
            min_reader_version=2, min_writer_version=7, reader_features=("timestampNtz",),
            writer_features=("timestampNtz",),
        ),
    ],
)  # fmt: skip
def test_a_protocol_that_contradicts_itself_is_refused(malformed: Protocol) -> None:
    """S331"""
    with pytest.raises(UnsupportedFeature, match="malformed"):
        features.check_readable(malformed, metadata())


def test_every_feature_is_one_row() -> None:
    names = [feature.name for feature in features.FEATURES]

    assert len(names) == len(set(names))
    assert all(feature.can_read or not feature.can_write for feature in features.FEATURES)
