"""How tools are named towards agents."""

from gateway.app.naming import naming
from gateway.config.settings import ExposeSettings
from gateway.servers.names import Naming


def test_names_follow_the_configuration() -> None:
    assert naming(ExposeSettings()) == Naming()
    short = ExposeSettings(transparent=True, max_name=32)
    assert naming(short) == Naming(transparent=True, longest=32)
