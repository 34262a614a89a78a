"""The manifests of the page on Kubernetes agree with each other and with Headgate; nothing is applied."""

import dataclasses
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import headgate
from headgate.server import exposure
from headgate.server.settings import ServerSettings, load_settings
from headgate.settings import HttpSettings
from tests.support import command_help

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "on-kubernetes.md").read_text()
MANIFESTS: list[dict[str, Any]] = [
    manifest
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for manifest in yaml.safe_load_all(block)
]
GIVEN = {"headgate-tls": {"tls.crt", "tls.key", "ca.crt"}, "nightly-load-token": {"token"}}
"""Secrets that the page says somebody else makes, and their keys."""


def of_kind(*kinds: str) -> dict[str, dict[str, Any]]:
    """The manifests of these kinds, by name."""
    return {each["metadata"]["name"]: each for each in MANIFESTS if each["kind"] in kinds}


SECRETS = {name: set(secret["stringData"]) for name, secret in of_kind("Secret").items()} | GIVEN
SETTINGS = {name: set(settings["data"]) for name, settings in of_kind("ConfigMap").items()}
PODS = {name: each["spec"]["template"] for name, each in of_kind("Deployment", "Job").items()}


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from pod["spec"].get("initContainers", [])
    yield from pod["spec"]["containers"]


def named_ports(pod: dict[str, Any]) -> dict[str, int]:
    return {port["name"]: port["containerPort"] for each in containers(pod) for port in each.get("ports", [])}


@pytest.fixture
def server_settings(tmp_path: Path) -> ServerSettings:
    file = tmp_path / "server.toml"
    file.write_text(of_kind("ConfigMap")["headgate"]["data"]["server.toml"])
    return load_settings(file, {}, {})


def test_the_page_has_a_server_a_worker_and_a_job() -> None:
    assert set(PODS) == {"headgate", "headgate-worker", "nightly-load"}
    assert all(each["apiVersion"] and each["metadata"]["name"] for each in MANIFESTS)


def test_the_settings_of_the_server_are_ones_that_start(server_settings: ServerSettings) -> None:
    exposure.require_safe_setup(server_settings)

    assert [lake.name for lake in server_settings.lakes] == ["main"]
    assert server_settings.port == named_ports(PODS["headgate"])["https"]
    grace = PODS["headgate"]["spec"]["terminationGracePeriodSeconds"]
    assert grace >= 2 * server_settings.drain_seconds + 30  # as long as a supervisor waits for its processes


def test_a_setting_that_is_misspelled_is_noticed(tmp_path: Path) -> None:
    text = of_kind("ConfigMap")["headgate"]["data"]["server.toml"].replace("drain_seconds", "drain_second")
    (tmp_path / "server.toml").write_text(text)

    with pytest.raises(headgate.errors.InvalidRequest, match="drain_second"):
        load_settings(tmp_path / "server.toml", {}, {})


@pytest.mark.parametrize("name", ["headgate", "headgate-worker"])
def test_commands_and_their_flags_exist(name: str) -> None:
    (noun, verb, *rest) = PODS[name]["spec"]["containers"][0]["args"]
    flags = [each for each in rest if each.startswith("--")]

    assert flags
    assert [flag for flag in flags if flag not in command_help.flags(noun, verb)] == []


@pytest.mark.parametrize("name", PODS)
def test_secrets_settings_and_volumes_are_there(name: str) -> None:
    volumes = {each["name"]: each for each in PODS[name]["spec"]["volumes"]}
    for container in containers(PODS[name]):
        for mount in container["volumeMounts"]:
            assert mount["name"] in volumes
        for variable in container.get("env", []):
            asked = variable.get("valueFrom", {}).get("secretKeyRef")
            assert asked is None or asked["key"] in SECRETS[asked["name"]]
    for volume in volumes.values():
        if "secret" in volume:
            keys = {item["key"] for item in volume["secret"].get("items", [])}
            assert keys <= SECRETS[volume["secret"]["secretName"]]
        if "configMap" in volume:
            assert volume["configMap"]["name"] in SETTINGS


def test_files_that_the_server_names_are_mounted(server_settings: ServerSettings) -> None:
    server = PODS["headgate"]["spec"]["containers"][0]
    mounted = {mount["mountPath"]: mount["name"] for mount in server["volumeMounts"]}
    named = {
        "tls_certificate": server_settings.tls_certificate,
        "tls_key": server_settings.tls_key,
        "admin_token_file": server_settings.admin_token_file,
        "config": server["args"][3],
    }

    assert {what for what, path in named.items() if str(Path(path or "").parent) not in mounted} == set()
    assert Path(named["config"]).name in SETTINGS["headgate"]


def test_the_token_is_mounted_so_that_a_server_takes_it(server_settings: ServerSettings) -> None:
    """What the group of the pod can read besides is what ``fsGroup`` gives it."""
    pod = PODS["headgate"]["spec"]
    file = Path(server_settings.admin_token_file or "")
    (mount,) = (
        each for each in pod["containers"][0]["volumeMounts"] if each["mountPath"] == str(file.parent)
    )
    (secret,) = (each["secret"] for each in pod["volumes"] if each["name"] == mount["name"])

    assert (mount["readOnly"], secret["defaultMode"]) == (True, 0o400)
    assert file.name in {item["path"] for item in secret["items"]}
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"]


def test_probes_ask_routes_that_need_no_token() -> None:
    server = PODS["headgate"]["spec"]["containers"][0]
    probes = {server[kind]["httpGet"]["path"]: server[kind]["httpGet"] for kind in server if "Probe" in kind}

    assert set(probes) == {"/ready", "/health"}
    assert all(probe["port"] in named_ports(PODS["headgate"]) for probe in probes.values())
    assert {probe["scheme"] for probe in probes.values()} == {"HTTPS"}


@pytest.mark.parametrize("name", of_kind("Service"))
def test_services_find_their_pods_and_ports(name: str) -> None:
    service = of_kind("Service")[name]["spec"]
    pod = PODS[name]
    ports = named_ports(pod)

    assert service["selector"].items() <= pod["metadata"]["labels"].items()
    assert all(port.get("targetPort", port["name"]) in ports for port in service["ports"])


@pytest.mark.parametrize("name", of_kind("Deployment"))
def test_deployments_select_their_own_pods(name: str) -> None:
    deployment = of_kind("Deployment")[name]["spec"]

    assert deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"]
    assert all(each["image"].endswith(f":{version()}") for each in containers(PODS[name]))


def test_the_role_of_the_driver_is_bound_to_its_account() -> None:
    binding = of_kind("RoleBinding")["spark-driver"]

    assert binding["roleRef"]["name"] in of_kind("Role")
    assert [subject["name"] for subject in binding["subjects"]] == [*of_kind("ServiceAccount")]
    assert PODS["nightly-load"]["spec"]["serviceAccountName"] in of_kind("ServiceAccount")


def test_the_program_of_the_job_names_settings_that_exist() -> None:
    program = re.findall(r"^```py\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[0]
    compile(program, "the page", "exec")
    fields = {field.name for field in dataclasses.fields(HttpSettings)}

    assert set(re.findall(r"HttpSettings\((\w+)=", program)) <= fields
    ports = {int(port) for port in re.findall(r'[pP]ort", (\d+)\)', program)}
    assert ports == set(named_ports(PODS["nightly-load"]).values())


def version() -> str:
    """The version of this tree."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    found: str = project["project"]["version"]
    return found
