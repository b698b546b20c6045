from pathlib import Path

from gateway.app.entries import entries, misconfigured
from gateway.config.servers import ServerSettings
from gateway.config.settings import Settings


def settings(ca: Path) -> Settings:
    beta = ServerSettings.model_validate({"url": "https://b.example/", "tls": {"ca": str(ca)}})
    alpha = ServerSettings.model_validate({"command": "alpha"})
    return Settings.model_validate({"servers": {"alpha": {"command": "x"}}}).model_copy(
        update={"servers": {"alpha": alpha, "beta": beta}}
    )


def test_a_server_whose_authorities_can_not_be_read_is_left_alone_and_the_others_run(
    tmp_path: Path,
) -> None:
    found = settings(tmp_path / "none.pem")
    assert [entry.name for entry in entries(found, {})] == ["alpha"]
    assert list(misconfigured(found)) == ["beta"]
    assert misconfigured(found)["beta"].endswith("none.pem`: no such file or directory")


def test_what_an_entry_says_of_lanes_holds_at_its_server() -> None:
    entry: dict[str, object] = {"command": "x", "max_lanes": 3, "lane_idle": "90s"}
    (alpha,) = entries(Settings.model_validate({"servers": {"alpha": entry}}), {})
    assert (alpha.max_lanes, alpha.timeouts.lane_idle_s) == (3, 90.0)
