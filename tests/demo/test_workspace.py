"""The folder of a demo."""

import sys
from pathlib import Path

from gateway.clock import SystemClock
from gateway.config import load as loading
from gateway.demo.workspace import Workspace, policies
from gateway.identity.apikeys import ApiKeys


def test_the_configuration_loads_and_lets_each_tenants_key_in(tmp_path: Path) -> None:
    made = Workspace.create(tmp_path)
    made.write_config(python=sys.executable, desk_port=4711, time_server=Path("/bin/true"))
    settings = loading.load(made.config, {}).settings
    assert list(settings.servers) == ["crm", "desk", "time"]
    assert {each.name for each in policies().glob("*.yaml")} | {"demo.yaml"} == {
        each.name for each in settings.policies.glob("*.yaml")
    }
    assert {each.tenant for each in settings.admin.accounts} == {"acme"}
    keys = ApiKeys(settings.identity.api_keys)
    for tenant, key in made.keys.items():
        assert keys.principal(key, now=SystemClock().now()).tenant == tenant


def test_no_key_is_written_down(tmp_path: Path) -> None:
    made = Workspace.create(tmp_path)
    made.write_config(python=sys.executable, desk_port=4711, time_server=None)
    text = made.config.read_text(encoding="utf-8")
    assert not any(key in text for key in made.keys.values())
    assert "time" not in loading.load(made.config, {}).settings.servers


def test_the_shipped_policies_are_found() -> None:
    assert (policies() / "guards.yaml").is_file()
    assert (policies() / "contracts").is_dir()
