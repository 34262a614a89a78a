"""T12: nothing is minted for a place that is more, or other, than a table's folder."""

import pytest

from headgate.errors import NotAllowed
from headgate.server.credentials import CredentialVendor, S3AssumedRole, StorageAccess
from headgate.server.credentials.table_place import choose_row, parse_place
from headgate.storage.credentials import NO_EXPIRY_MS, StorageOperation

READ = StorageOperation.READ


class Minted(Exception):
    """Something was minted that must not be."""


@pytest.mark.parametrize(
    "location",
    [
        "s3://lake",
        "s3://lake/",
        "s3://lake//",
        "s3:///t",
        "s3://lake/a/../t",
        "s3://lake/a/%2e%2e/t",
        "s3://lake/a/%252e%252e/t",
        "s3://lake/./t",
        "s3://lake/a//t",
        "s3://lake/t?x=1",
        "s3://lake/t#x",
        "s3://user@lake.x/t:",
        "s3://lake/t%00",
        "s3://lake/a%0At",
        "s3://lake/a%5C..%5Ct",
        "s3://lake/a%252Fb",
    ],
)
def test_no_credential_is_minted_for_a_place_that_is_no_tables_folder(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _refuse_to_mint(monkeypatch)
    vendor = CredentialVendor((StorageAccess("s3://lake", S3AssumedRole("arn:aws:iam::1:role/r")),))

    if "@" in location:  # only Azure has something before the host
        assert parse_place("abfss://c@a.dfs.core.windows.net/t").host == "c@a.dfs.core.windows.net"
    with pytest.raises(NotAllowed):
        vendor.vend(location, READ)


@pytest.mark.parametrize(
    "location", ["s3://lake/tables2/t", "s3://lake2/tables/t", "s3://lake/t", "gs://lake/tables/t"]
)
def test_no_credential_is_minted_outside_the_rows(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2026-42809 and 42812: the location is checked, slash and all, before anything is minted."""
    _refuse_to_mint(monkeypatch)
    vendor = CredentialVendor((StorageAccess("s3://lake/tables", S3AssumedRole("arn:aws:iam::1:role/r")),))

    assert not vendor.vends_for(location)
    with pytest.raises(NotAllowed, match="no access to vend"):
        vendor.vend(location, READ)


def test_the_longest_row_decides() -> None:
    rows = tuple(StorageAccess(prefix) for prefix in ("s3://b", "s3://b/x/y", "s3://b/x"))

    chosen = [
        choose_row(rows, place) for place in ("s3://b/x/y/t", "s3a://b/x/t/", "s3://b/%78/y", "s3://c/x")
    ]

    assert [row.prefix if row else None for row in chosen] == ["s3://b/x/y", "s3://b/x", "s3://b/x/y", None]


@pytest.mark.parametrize("location", ["/data/t", "file:///data/t", "file:/data/t"])
def test_a_folder_needs_no_credential_and_its_answer_has_an_end_all_the_same(location: str) -> None:
    vended = CredentialVendor().vend(location, StorageOperation.READ_WRITE)

    assert (vended.config, vended.expires_ms) == ({}, NO_EXPIRY_MS)
    assert vended.prefix == "file:///data/t"  # a URL, however it was given


def _refuse_to_mint(monkeypatch: pytest.MonkeyPatch) -> None:
    def mint(*_: object) -> object:
        raise Minted

    monkeypatch.setattr("headgate.server.credentials.vendor.MINTS", {S3AssumedRole: mint})
