"""Files with definitions of tools, as a person gives them to `weighbridge replay`."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import anyio
import pytest

from tests.helpers.recorded import PAY, recorded
from tests.helpers.workspaces import Workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return anyio.run(recorded, tmp_path_factory.mktemp("made"))


def a_file(folder: Path, value: object, name: str = "tools.json") -> str:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def pay(**changes: Any) -> Any:
    inputs: Any = PAY["inputSchema"]
    return {**PAY, "inputSchema": {**inputs, "properties": {**inputs["properties"], **changes}}}


LOWER = pay(amount={"type": "number", "maximum": 60})
RENAMED = {**PAY, "inputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}}}


def tool_of(made: Workspace, *words: str) -> Any:
    code, said = made.json("replay", *words)
    assert code == 0, said
    (tool,) = said["tools"]
    return tool


def test_what_servers_publish_is_written_and_read_again_and_changes_nothing(
    made: Workspace, tmp_path: Path
) -> None:
    live = made.run("tools", "list", "--definitions")
    file = tmp_path / "live.json"
    file.write_text(live.stdout, encoding="utf-8")
    code, said = made.json("replay", "--schemas", str(file), "--fail-on", "schema-breaks")
    (tool,) = said["tools"]
    assert (code, said["same"], tool["fate"], tool["blocked"]) == (0, 3, "same", 0)


def test_arguments_that_fit_no_more_are_found_and_ci_stops_at_them(
    made: Workspace, tmp_path: Path
) -> None:
    file = a_file(tmp_path, {"tools": [LOWER]})
    tool = tool_of(made, "--schemas", file)
    assert (tool["fate"], tool["blocked"], tool["passes_when_pinned"]) == ("changed", 2, True)
    assert (tool["arguments"]["fit"], tool["arguments"]["fit_no_more"]) == (1, 2)
    for wanted, code in (("invalid-arguments", 1), ("schema-breaks", 0), ("grants-less", 1)):
        assert made.run("replay", "--schemas", file, "--fail-on", wanted).exit_code == code, wanted


def test_rules_and_secrets_that_lead_nowhere_are_found_and_ci_stops_at_them(
    made: Workspace, tmp_path: Path
) -> None:
    file = a_file(tmp_path, {"alpha": {"tools": [RENAMED]}})
    tool = tool_of(made, "--schemas", file)
    assert {each["check"] for each in tool["breaks"]} >= {"condition-type", "sensitive"}
    assert tool["passes_when_pinned"] is False
    done = made.run("replay", "--schemas", file, "--fail-on", "schema-breaks")
    assert (done.exit_code, "the policy does not pass with it" in done.stdout) == (1, True)


def test_the_same_is_told_in_every_form(made: Workspace, tmp_path: Path) -> None:
    file = a_file(tmp_path, [RENAMED])

    def written(form: str) -> str:
        words = ("--schemas", file, "--format", form, "--fail-on", "schema-breaks")
        return made.run("replay", *words).stdout

    html = written("html")
    assert "Tool definitions" in html
    assert "then the policy does not pass" in html
    assert int(Xml.fromstring(written("junit")).attrib["failures"]) == 1
    (run,) = json.loads(written("sarif"))["runs"]
    found = [each for each in run["results"] if each["ruleId"] == "schema-breaks"]
    place = found[0]["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] > 0


@pytest.mark.parametrize(
    ("value", "prefix", "said"),
    [
        ({"tools": [{"name": 1}]}, "", "tool 1 of its list has no `name`"),
        ({"alpha": [], "beta": 1}, "", "`beta` has no list of tools"),
        ({"alpha": []}, "beta=", "names its servers itself"),
        ({"alpah": []}, "", "no server `alpah` is known; did you mean `alpha`?"),
        ([PAY], "gamma=", "no server `gamma` is known"),
    ],
)
def test_a_file_that_is_none_ends_the_command_with_one_line(
    made: Workspace, tmp_path: Path, value: object, prefix: str, said: str
) -> None:
    done = made.run("replay", "--schemas", f"{prefix}{a_file(tmp_path, value)}")
    assert (done.exit_code, said in done.stderr, done.stderr.count("\n")) == (2, True, 1)


def test_the_server_of_a_list_can_be_named_and_each_only_once(
    made: Workspace, tmp_path: Path
) -> None:
    first, second = a_file(tmp_path, [LOWER]), a_file(tmp_path, [PAY], "more.json")
    assert tool_of(made, "--schemas", f"alpha={first}")["fate"] == "changed"
    done = made.run("replay", "--schemas", f"alpha={first}", "--schemas", second)
    assert (done.exit_code, "are in another file as well" in done.stderr) == (2, True)
    gone = made.run("replay", "--schemas", str(tmp_path / "none.json"))
    assert (gone.exit_code, "can't be read" in gone.stderr) == (2, True)
