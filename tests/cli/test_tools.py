"""`weighbridge tools`: what servers publish, what was reviewed, what changed since."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.contracts import files
from gateway.contracts.pins import pin
from gateway.types.tools import Contract, Effect, Risk
from tests.helpers.fake_server import Script, tool
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

FIND = tool("find", description="finds a customer")
NOTE = tool("add_note", description="adds a note", annotations={"readOnlyHint": False})


def a_place(
    folder: Path, contracts: Sequence[Contract] = (), script: Script | None = None
) -> Workspace:
    entry = house.stdio(script or Script(tools=[FIND, NOTE]), folder)
    return a_workspace(folder, {"alpha": entry}, contracts=contracts)


def written(place: Workspace) -> dict[str, Contract]:
    """Return every contract that lies in the policy folder."""
    found: dict[str, Contract] = {}
    for path in (place.folder / "policies/contracts").glob("*.yaml"):
        found |= {each.tool: each for each in files.load(path.read_text(), file=str(path))}
    return found


@pytest.fixture
def places(tmp_path: Path) -> Workspace:
    """Tools in every state that one can be in."""
    bad = {"name": "bad", "inputSchema": 7}
    return a_place(
        tmp_path,
        [
            house.contract(FIND),
            house.contract(NOTE, reviewed=False, effect=Effect.WRITE, risk=Risk.MEDIUM),
            house.contract(tool("other", description="as it was")),
        ],
        Script(tools=[FIND, NOTE, tool("new"), tool("other"), bad]),
    )


def test_a_list_says_of_every_tool_what_stands_between_it_and_an_agent(places: Workspace) -> None:
    code, found = places.json("tools", "list")
    assert code == 0
    assert {each["tool"]: each["state"] for each in found} == {
        "alpha.find": "reviewed",
        "alpha.add_note": "unreviewed",
        "alpha.new": "no contract",
        "alpha.other": "changed",
        "alpha.bad": "quarantined",
    }
    by_tool = {each["tool"]: each for each in found}
    assert by_tool["alpha.add_note"] == {
        "tool": "alpha.add_note",
        "exposed": "alpha__add_note",
        "state": "unreviewed",
        "pin": pin(NOTE),
        "effect": "write",
        "risk": "medium",
        "reason": "",
    }
    assert (by_tool["alpha.new"]["effect"], by_tool["alpha.new"]["risk"]) == (None, None)
    assert by_tool["alpha.bad"]["reason"]
    lines = places.run("tools", "list").stdout.splitlines()
    assert lines[0].split("  ")[0] == "tool"
    assert [line.split() for line in lines if line.startswith("alpha.find ")] == [
        ["alpha.find", "alpha__find", "read", "low", "reviewed"]
    ]


def test_a_server_that_is_not_there_is_told_beside_the_list(tmp_path: Path) -> None:
    servers = {
        "alpha": house.stdio(Script(tools=[FIND]), tmp_path),
        "broken": {"command": "/no/such/program"},
        "lacking": {"command": "x", "env": {"KEY": "${NOBODY_SET_THIS}"}},
    }
    done = a_workspace(tmp_path, servers).run("tools", "list", "--json")
    assert done.exit_code == 0
    assert "alpha.find" in done.stdout
    broken, lacking = done.stderr.splitlines()
    assert broken.startswith("weighbridge: server `broken`: ")
    assert lacking.startswith("weighbridge: server `lacking`: ")


def test_new_tools_get_drafts_that_wait_for_a_person(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    done = place.run("tools", "pin")
    assert done.exit_code == 0, done.stderr
    *drafted, following = done.stdout.splitlines()
    assert [line.split()[:2] for line in drafted] == [
        ["drafted", "alpha.add_note"],
        ["drafted", "alpha.find"],
    ]
    assert following == "next: `weighbridge tools review` walks the drafts, one by one"
    contracts = written(place)
    assert contracts["alpha.find"].pin == pin(FIND)
    assert not any(contract.reviewed for contract in contracts.values())
    assert place.run("tools", "pin").stdout.splitlines() == [
        "nothing to pin: every tool has a contract",
        "drafts wait for a review: `alpha.add_note`, `alpha.find`; run `weighbridge tools review`, "
        "or `weighbridge tools pin --reviewed` to take all of them as they are",
    ]


def test_earlier_drafts_are_marked_as_reviewed_once_somebody_says_so(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    place.run("tools", "pin")
    code, done = place.json("tools", "pin", "alpha.find", "--reviewed")
    assert (code, [(each["tool"], each["change"]) for each in done]) == (
        0,
        [("alpha.find", "reviewed")],
    )
    assert {name for name, each in written(place).items() if each.reviewed} == {"alpha.find"}
    shown = place.run("tools", "pin", "--reviewed").stdout
    assert shown.startswith("reviewed  alpha.add_note  in ")
    assert all(each.reviewed for each in written(place).values())
    assert place.run("tools", "pin").stdout == "nothing to pin: every tool has a contract\n"


def test_a_draft_of_what_its_server_no_longer_publishes_is_not_marked_by_the_way(
    tmp_path: Path,
) -> None:
    old = house.contract({**FIND, "description": "as it was"}, reviewed=False)
    place = a_place(tmp_path, [old, house.contract(NOTE)])
    done = place.run("tools", "pin", "--reviewed")
    assert done.stdout.splitlines() == [
        "nothing to pin: every tool has a contract",
        "not as pinned: `alpha.find`; look at `weighbridge tools diff`, then run "
        "`weighbridge tools pin alpha.find`",
    ]
    assert not written(place)["alpha.find"].reviewed


def test_a_program_gets_every_change_with_its_file_and_reasons(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    code, done = place.json("tools", "pin", "--reviewed")
    assert code == 0
    assert [(each["tool"], each["change"]) for each in done] == [
        ("alpha.add_note", "drafted"),
        ("alpha.find", "drafted"),
    ]
    assert all(each.keys() == {"tool", "change", "file", "reasons"} for each in done)
    assert all(Path(each["file"]).is_file() for each in done)
    assert all(contract.reviewed for contract in written(place).values())


def test_the_pin_of_a_changed_tool_is_renewed_only_by_its_name(tmp_path: Path) -> None:
    old = house.contract({**FIND, "description": "as it was"})
    place = a_place(tmp_path, [old, house.contract(NOTE)])
    assert place.json("tools", "pin") == (0, [])
    assert written(place)["alpha.find"].pin == old.pin
    code, (done,) = place.json("tools", "pin", "alpha.find")
    assert (code, done["tool"]) == (0, "alpha.find")
    assert written(place)["alpha.find"].pin == pin(FIND)


def test_a_name_that_no_server_publishes_is_a_wrong_call_and_writes_nothing(
    tmp_path: Path,
) -> None:
    place = a_place(tmp_path)
    done = place.run("tools", "pin", "alpha.fnid")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "weighbridge: no server publishes `alpha.fnid`; see `weighbridge tools list`\n"
    )
    assert written(place) == {}


def test_tools_that_could_not_be_read_are_told_with_exit_code_1_and_the_others_pinned(
    tmp_path: Path,
) -> None:
    servers = {
        "alpha": house.stdio(Script(tools=[FIND]), tmp_path),
        "broken": {"command": "/no/such/program"},
    }
    place = a_workspace(tmp_path, servers)
    done = place.run("tools", "pin")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == ("weighbridge: the tools of `broken` could not be read")
    assert list(written(place)) == ["alpha.find"]


def test_a_contract_that_can_not_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    path = tmp_path / "policies/contracts/tools.yaml"
    path.write_text("tools: [\n")
    for words in (("tools", "list"), ("tools", "pin"), ("tools", "diff")):
        done = place.run(*words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"weighbridge: {path}:")


def test_a_difference_is_shown_from_both_sides_with_exit_code_1(tmp_path: Path) -> None:
    old = house.contract({**FIND, "description": "as it was"})
    place = a_place(tmp_path, [old, house.contract(NOTE)])
    done = place.run("tools", "diff")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "alpha.find",
        "  changed  /description",
        "    - as it was",
        "    + finds a customer",
    ]
    code, found = place.json("tools", "diff", "alpha.find")
    assert code == 1
    assert found == {
        "alpha.find": [
            {
                "pointer": "/description",
                "kind": "changed",
                "before": "as it was",
                "after": "finds a customer",
            }
        ]
    }
    assert place.json("tools", "diff", "alpha.add_note") == (0, {})


def test_no_difference_is_told_of_a_server_that_could_not_be_read(tmp_path: Path) -> None:
    done = a_workspace(tmp_path, {"broken": {"command": "/no/such/program"}}).run("tools", "diff")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "weighbridge: the tools of `broken` could not be read"


def test_without_a_difference_there_is_nothing_to_show(tmp_path: Path) -> None:
    done = a_place(tmp_path, [house.contract(FIND), house.contract(NOTE)]).run("tools", "diff")
    assert (done.exit_code, done.stdout) == (0, "")
