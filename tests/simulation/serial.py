"""What a table is after each version, by the plainest replay there is: JSON, dicts, none of the product."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

STAMPS = "delta.enableInCommitTimestamps"
ISOLATION = "delta.isolationLevel"
OWNER = "delta.coordinatedCommits.commitCoordinator-preview"
ROW_MARK = "delta.rowTracking"


@dataclass(frozen=True, slots=True)
class Entry:
    """One version as it was ratified."""

    version: int
    content: bytes
    actions: tuple[dict[str, Any], ...]

    @property
    def info(self) -> dict[str, Any]:
        return next(iter(self.all("commitInfo")), {})

    @property
    def adds(self) -> tuple[dict[str, Any], ...]:
        return self.all("add")

    @property
    def removes(self) -> tuple[dict[str, Any], ...]:
        return self.all("remove")

    @property
    def operation(self) -> str:
        return str(self.info.get("operation"))

    @property
    def parameters(self) -> dict[str, str]:
        found: dict[str, str] = self.info.get("operationParameters", {})
        return found

    @property
    def run(self) -> tuple[str, str] | None:
        """Which run of which operation of the simulation wrote it."""
        said = self.parameters
        return (said["op"], said["run"]) if "op" in said else None

    def all(self, kind: str) -> tuple[dict[str, Any], ...]:
        """The actions of one kind."""
        return tuple(action[kind] for action in self.actions if kind in action)


def parse(version: int, content: bytes) -> Entry:
    """The entry that these bytes are."""
    return Entry(version, content, tuple(json.loads(line) for line in content.splitlines()))


def vector(file: Mapping[str, Any]) -> str | None:
    """The deletion vector of a file action."""
    found: str | None = (file.get("deletionVector") or {}).get("pathOrInlineDv")
    return found


@dataclass(frozen=True, slots=True)
class Table:
    """A table at one version."""

    version: int = -1
    files: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """The live add actions by path."""
    txns: Mapping[str, int] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    timestamp: int | None = None

    @property
    def properties(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.metadata.get("configuration", {})
        return found

    @property
    def is_managed(self) -> bool:
        return "catalogManaged" in self.features

    @property
    def is_owned(self) -> bool:
        return OWNER in self.properties

    @property
    def has_in_commit_timestamp(self) -> bool:
        return self.properties.get(STAMPS) == "true"

    @property
    def tracks_rows(self) -> bool:
        return "rowTracking" in self.features

    @property
    def row_mark(self) -> int:
        """The highest row id ever given."""
        return int(json.loads(self.domains.get(ROW_MARK, '{"rowIdHighWaterMark":-1}'))["rowIdHighWaterMark"])

    def after(self, entry: Entry) -> "Table":
        """The table once ``entry`` is applied."""
        removed = {remove["path"] for remove in entry.removes}
        kept = {path: add for path, add in self.files.items() if path not in removed}
        domains = dict(self.domains)
        for domain in entry.all("domainMetadata"):
            if domain["removed"]:
                domains.pop(domain["domain"], None)
            else:
                domains[domain["domain"]] = domain["configuration"]
        features = self.features
        for protocol in entry.all("protocol"):
            features = frozenset(protocol.get("writerFeatures") or ())
        return replace(
            self,
            version=entry.version,
            files={**kept, **{add["path"]: add for add in entry.adds}},
            txns={**self.txns, **{txn["appId"]: txn["version"] for txn in entry.all("txn")}},
            domains=domains,
            metadata=next(iter(entry.all("metaData")), self.metadata),
            features=features,
            timestamp=entry.info.get("inCommitTimestamp"),
        )


def checksum_breach(said: Mapping[str, Any], table: Table) -> str | None:
    """In what a checksum file differs from the table it is of."""
    sizes = [add["size"] for add in table.files.values()]
    stamp = table.timestamp if table.has_in_commit_timestamp else None
    pairs = {
        "numFiles": (said["numFiles"], len(sizes)),
        "tableSizeBytes": (said["tableSizeBytes"], sum(sizes)),
        "inCommitTimestampOpt": (said.get("inCommitTimestampOpt"), stamp),
        "metadata": (said["metadata"]["configuration"], table.properties),
        "protocol": (frozenset(said["protocol"].get("writerFeatures") or ()), table.features),
    }
    if "setTransactions" in said:
        pairs["setTransactions"] = (
            {txn["appId"]: txn["version"] for txn in said["setTransactions"]},
            table.txns,
        )
    if "domainMetadata" in said:
        found = {domain["domain"]: domain["configuration"] for domain in said["domainMetadata"]}
        pairs["domainMetadata"] = (found, table.domains)
    wrong = [
        f"{name} is {recorded}, not {found}" for name, (recorded, found) in pairs.items() if recorded != found
    ]
    return "; ".join(wrong) or None
