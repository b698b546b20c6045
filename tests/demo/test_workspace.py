"""The folder of a demo."""

import sys
from pathlib import Path

from gateway.clock import SystemClock
from gateway.config import load as loading
from gateway.demo.workspace import Ports, Workspace, policies
from gateway.identity.apikeys import ADMIN_PREFIX, ApiKeys
from gateway.yamltext.editors import schema_line


def test_the_configuration_loads_and_lets_each_tenants_key_in(tmp_path: Path) -> None:
    made = Workspace.create(tmp_path)
    made.write_config(
        python=sys.executable,
        desk_port=4711,
        time_server=Path("/bin/true"),
        ports=Ports(admin=4712),
    )
    settings = loading.load(made.config, {}).settings
    assert list(settings.servers) == ["crm", "desk", "time"]
    assert {each.name for each in policies().glob("*.yaml")} | {"demo.yaml"} == {
        each.name for each in settings.policies.glob("*.yaml")
    }
    assert {each.tenant for each in settings.admin.accounts} == {"acme"}
    assert [each.roles for each in settings.admin.auditors] == [{"finance-lead"}]
    assert len(settings.events.checkpoints.to) == 1
    assert (settings.listen.endpoint.port, settings.admin.endpoint.port) == (0, 4712)
    keys = ApiKeys(settings.identity.api_keys)
    for tenant, key in made.keys.items():
        assert keys.principal(key, now=SystemClock().now()).tenant == tenant
    hosts = ApiKeys(settings.admin.api_keys, prefix=ADMIN_PREFIX)
    host = hosts.principal(made.host_key, now=SystemClock().now())
    assert (host.tenant, host.scopes) == ("acme", {"run:manage", "crm:read"})


def test_no_key_is_written_down(tmp_path: Path) -> None:
    made = Workspace.create(tmp_path)
    made.write_config(python=sys.executable, desk_port=4711, time_server=None, ports=Ports())
    text = made.config.read_text(encoding="utf-8")
    assert text.startswith(schema_line("config"))
    assert not any(key in text for key in (*made.keys.values(), made.host_key))
    assert "time" not in loading.load(made.config, {}).settings.servers


def test_the_shipped_policies_are_found() -> None:
    assert (policies() / "guards.yaml").is_file()
    assert (policies() / "contracts").is_dir()
