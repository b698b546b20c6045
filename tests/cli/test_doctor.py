"""`weighbridge doctor` as a person and a program read it."""

from pathlib import Path

from tests.helpers.fake_server import Script, tool
from tests.helpers.workspaces import a_workspace
from tests.journeys import house

FIND = tool("find")


def test_all_is_well_with_exit_code_0(tmp_path: Path) -> None:
    entry = house.stdio(Script(tools=[FIND]), tmp_path)
    place = a_workspace(tmp_path, {"alpha": entry}, contracts=[house.contract(FIND)])
    done = place.run("doctor")
    assert done.exit_code == 0, done.stdout
    lines = done.stdout.splitlines()
    assert all(line.startswith("ok    ") for line in lines)
    assert "ok    servers    `alpha` answers (stdio, MCP 2026-07-28); tools: 1 exposed" in lines


def test_each_mend_stands_under_what_it_mends_with_exit_code_1(tmp_path: Path) -> None:
    done = a_workspace(tmp_path).run("doctor")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    at = lines.index("MEND  config     there are no servers")
    assert lines[at + 1] == (
        "                 → add entries under `servers`, as in an agent client's `mcpServers`"
    )


def test_a_program_gets_part_verdict_finding_and_mend(tmp_path: Path) -> None:
    code, found = a_workspace(tmp_path).json("doctor")
    assert code == 1
    assert all(each.keys() == {"part", "ok", "found", "mend"} for each in found)
    assert {each["part"] for each in found} == {
        "config",
        "policies",
        "contracts",
        "store",
        "log",
        "telemetry",
    }
    assert all(each["mend"] == "" for each in found if each["ok"])


def test_a_name_from_a_server_stays_on_its_line(tmp_path: Path) -> None:
    posing = {"name": "x\nok    servers    forged", "inputSchema": 7}
    entry = house.stdio(Script(tools=[posing]), tmp_path)
    done = a_workspace(tmp_path, {"alpha": entry}).run("doctor")
    assert "ok    servers    forged" not in done.stdout.splitlines()
    assert r"\u{a}ok    servers    forged" in done.stdout
