"""What is shipped for running it for good: held against the gateway and against itself."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.actions import revisions
from gateway.clock import SystemClock
from gateway.config import load
from gateway.config.exposure import find_open_listener
from gateway.revision import Unreviewed

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
UNIT = ROOT / "deploy" / "systemd" / "weighbridge.service"
RESOURCES: list[Any] = [
    each
    for path in sorted(KUBERNETES.glob("*.yaml"))
    if path.name not in ("kustomization.yaml", "config.yaml")
    for each in yaml.safe_load_all(path.read_text(encoding="utf-8"))
]
KUSTOMIZATION: Any = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text("utf-8"))


def resource(kind: str, name: str = "weighbridge") -> Any:
    (found,) = (
        each for each in RESOURCES if (each["kind"], each["metadata"]["name"]) == (kind, name)
    )
    return found


def pod() -> Any:
    return resource("Deployment")["spec"]["template"]


def container() -> Any:
    (found,) = pod()["spec"]["containers"]
    return found


def settings(tmp_path: Path) -> load.Loaded:
    """Load the configuration as a pod does, with its mounts where they are here."""
    text = (KUBERNETES / "config.yaml").read_text(encoding="utf-8")
    path = tmp_path / "config.yaml"
    path.write_text(text.replace("/etc/weighbridge-policies", str(KUBERNETES / "policies")))
    names = [each["name"] for each in container()["env"] if "valueFrom" in each]
    return load.load(path, {name: f"value-of-{name}" for name in names})


def test_the_configuration_of_the_pods_loads_and_is_open_to_nobody(tmp_path: Path) -> None:
    loaded = settings(tmp_path)
    assert loaded.warnings == ()
    assert find_open_listener(loaded.settings) is None
    assert loaded.settings.store.url.startswith("postgresql://")


def test_every_secret_that_is_asked_for_is_in_the_list_of_secrets() -> None:
    keys = set(resource("Secret")["stringData"])
    asked = {
        each["valueFrom"]["secretKeyRef"]["key"]
        for each in container()["env"]
        if "valueFrom" in each
    }
    assert asked == keys
    mounted = {
        each["secret"]["secretName"] for each in pod()["spec"]["volumes"] if "secret" in each
    }
    assert mounted == {"weighbridge-keys"}
    values = {
        **resource("Secret")["stringData"],
        **resource("Secret", "weighbridge-keys")["stringData"],
    }
    assert set(values.values()) == {"change-me"}


def test_the_policy_is_complete_and_passes_its_tests() -> None:
    folder = revisions.read(KUBERNETES / "policies")
    built = revisions.build(folder, unreviewed=Unreviewed.REFUSE, at=SystemClock().now())
    assert built.problem == ""
    assert built.report is not None
    assert built.report.coverage.rule_ratio == 1


def test_every_file_of_the_policy_reaches_its_folder_in_the_pods() -> None:
    (generated,) = (each for each in KUSTOMIZATION["configMapGenerator"] if "options" in each)
    files = dict(each.split("=") for each in generated["files"])
    (volume,) = (each for each in pod()["spec"]["volumes"] if each["name"] == "policies")
    placed = {each["key"]: f"policies/{each['path']}" for each in volume["configMap"]["items"]}
    assert files == placed
    assert {
        str(path.relative_to(KUBERNETES)) for path in KUBERNETES.glob("policies/**/*.yaml")
    } == {*files.values()}


def test_probes_name_a_host_that_the_gateway_answers_to(tmp_path: Path) -> None:
    public = settings(tmp_path).settings.admin.public_url or ""
    for probe, path in (
        ("startupProbe", "/healthz"),
        ("livenessProbe", "/healthz"),
        ("readinessProbe", "/readyz"),
    ):
        asked = container()[probe]["httpGet"]
        assert (asked["path"], asked["port"]) == (path, "people")
        assert asked["httpHeaders"] == [{"name": "Host", "value": public.removeprefix("https://")}]


def test_pods_have_no_rights_and_write_nowhere_but_where_they_may() -> None:
    whole, own = pod()["spec"]["securityContext"], container()["securityContext"]
    assert (whole["runAsNonRoot"], whole["runAsUser"]) == (True, 10001)
    assert own["readOnlyRootFilesystem"] is True
    assert own["allowPrivilegeEscalation"] is False
    assert own["capabilities"] == {"drop": ["ALL"]}
    written = {
        each["mountPath"] for each in container()["volumeMounts"] if not each.get("readOnly")
    }
    assert written == {"/var/lib/weighbridge", "/tmp"}


def test_two_replicas_stop_one_at_a_time_and_have_time_for_it() -> None:
    spec = resource("Deployment")["spec"]
    assert spec["replicas"] == 2
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    budget = resource("PodDisruptionBudget")["spec"]
    assert budget["minAvailable"] == 1
    assert budget["selector"] == spec["selector"]
    wait = container()["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod()["spec"]["terminationGracePeriodSeconds"] >= wait + 15
    for name in ("weighbridge", "weighbridge-people"):
        assert resource("Service", name)["spec"]["selector"] == spec["selector"]["matchLabels"]


def test_every_manifest_is_applied_but_the_one_with_secrets() -> None:
    known = {path.name for path in KUBERNETES.glob("*.yaml")}
    unlisted = known - {*KUSTOMIZATION["resources"]}
    assert unlisted == {"kustomization.yaml", "config.yaml", "secret.example.yaml"}


def test_the_image_is_not_root_and_has_a_health_check() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "HEALTHCHECK" in last
    assert "/healthz" in last
    assert 'ENTRYPOINT ["weighbridge"]' in last
    assert "STOPSIGNAL SIGTERM" in last
    assert not re.search(r"^FROM \S+:latest|^FROM [^:\s]+$|^ADD ", text, re.MULTILINE)
    for word in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in word.split())


def test_the_image_is_built_from_what_is_let_into_it() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    let_in = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line[:1] == "!"
    }
    copied = {
        name
        for words in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
        for name in words.split()
    }
    assert copied == let_in


def test_the_unit_runs_serve_without_rights_and_waits_for_its_end() -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] - as its documentation has it
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    service = parser["Service"]
    assert service["ExecStart"] == "/opt/weighbridge/bin/weighbridge serve"
    assert service["User"] == "weighbridge"
    assert service["CapabilityBoundingSet"] == ""
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes"
    assert int(service["TimeoutStopSec"]) >= 15


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    copy = tmp_path / UNIT.name  # the real one names a program that isn't installed here
    text = UNIT.read_text(encoding="utf-8")
    copy.write_text(text.replace("/opt/weighbridge/bin/weighbridge", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
