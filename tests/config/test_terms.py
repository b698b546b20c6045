"""What the configuration says of times and servers."""

from gateway.config.settings import Settings
from gateway.config.terms import terms


def test_times_and_servers_are_those_of_the_configuration() -> None:
    settings = Settings.model_validate(
        {
            "servers": {
                "alpha": {"command": "alpha", "timeout": "5s"},
                "beta": {"url": "https://beta.example/mcp"},
            },
            "limits": {"call_timeout": "40s"},
            "operations": {"keep": "30d", "late_window": "2m"},
        }
    )
    found = terms(settings)
    assert (found.keep_s, found.late_window_s, found.timeout_s) == (30 * 86400, 120, 40)
    assert found.timeouts_s == {"alpha": 5}
    assert found.over_stdio == {"alpha"}
