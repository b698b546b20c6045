"""What becomes of a client's servers, as texts of files."""

from pathlib import Path, PurePath

from gateway.actions import taking_over
from gateway.actions.taking_over import Plan
from gateway.clients import files
from gateway.config import env_file
from gateway.config import load as loading
from gateway.types.decisions import Mode

COMMAND = ["/bin/weighbridge"]
MANY = """{
  "inputs": [{"id": "tok", "type": "promptString", "password": true}],
  "servers": {
    "a b": {"command": "x", "env": {"TOKEN": "abc", "T": "${input:tok}"}},
    "off": {"command": "x", "disabled": true}, // later
    "odd": {"url": "https://h/mcp", "headers": {"X-Key": "žluť"}},
    "only here": {"command": "${command:x}"},
    "b": {"url": "https://h/mcp"}
  }
}"""


def plan(text: str, path: str = "/p/.vscode/mcp.json", **leave: str) -> Plan:
    source = files.read(text.encode(), PurePath(path))
    return taking_over.plan(source, PurePath(path), {"HOME": "/h"}, leave)


def test_what_can_go_goes_and_the_rest_says_why() -> None:
    made = plan(MANY)
    assert [each.name for each in made.taken] == ["a-b", "b"]
    assert [(each.name, each.reason.partition(";")[0]) for each in made.left] == [
        ("off", "is switched off"),
        (
            "odd",
            "can't be configured: `servers.odd.headers` has a value for `X-Key` with characters "
            "that a header can't carry, or with blanks at its ends",
        ),
        ("only here", "refers to `${command:x}`, which only the client knows"),
    ]


def test_nothing_is_kept_of_the_values_of_servers_that_stay() -> None:
    made = plan(MANY)
    assert made.values == {"TOKEN": "abc"}
    assert made.passed == {"INPUT_TOK": "${input:tok}"}


def test_the_configuration_loads_and_observes(tmp_path: Path) -> None:
    made = plan(MANY)
    (tmp_path / "weighbridge.env").write_text(taking_over.secrets(made))
    (tmp_path / "weighbridge.env").chmod(0o600)
    text = taking_over.config(made)
    loaded = loading.of_text(text, tmp_path / "config.yaml", {"INPUT_TOK": "t"})
    settings = loaded.settings
    assert settings.mode is Mode.OBSERVE
    assert settings.servers["a-b"].env == {"TOKEN": "abc", "T": "t"}
    assert settings.expose.max_name + len("mcp__weighbridge__") == 64
    assert not loaded.warnings
    assert text.startswith("# yaml-language-server: $schema=")
    assert env_file.parse(taking_over.secrets(made), file="f") == {"TOKEN": "abc"}


def test_the_client_gets_one_entry_in_its_own_words() -> None:
    made = plan(MANY)
    entry = taking_over.entry(made, COMMAND, PurePath("/p/config.yaml"))
    assert entry == {
        "type": "stdio",
        "command": "/bin/weighbridge",
        "args": ["stdio", "--config", "/p/config.yaml"],
        "env": {"INPUT_TOK": "${input:tok}"},
    }
    after = taking_over.switched(made, entry)
    assert '"inputs": [{"id": "tok"' in after
    assert "// later" in after
    again = plan(after)
    assert again.governed == "weighbridge"


def test_a_server_that_stays_keeps_its_name_and_the_gateway_takes_another() -> None:
    made = plan(
        '{"servers": {"weighbridge": {"command": "x", "disabled": true}, "a": {"command": "x"}}}'
    )
    assert made.name == "weighbridge-2"


def test_names_of_ours_are_the_same_whoever_stays() -> None:
    text = '{"servers": {"a!": {"command": "x"}, "a?": {"command": "y"}}}'
    assert [each.name for each in plan(text).taken] == ["a", "a-2"]
    made = plan(text, **{"a!": "wants a login"})
    assert [each.name for each in made.taken] == ["a-2"]
    assert [(each.name, each.reason) for each in made.left] == [("a!", "wants a login")]
