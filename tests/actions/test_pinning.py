"""Contract files as people keep them."""

from pathlib import Path

from gateway.actions import pinning
from gateway.contracts import files
from gateway.types.json import JsonObject
from gateway.types.tools import Quarantine, Tool
from tests.helpers.cases import a_definition, a_tool


def tools(*names: str) -> list[Tool]:
    return [a_tool(a_definition(name)) for name in names]


def loaded(path: Path) -> dict[str, bool]:
    return {each.tool: each.reviewed for each in files.load(path.read_text(), file=str(path))}


def test_new_tools_get_drafts_that_are_not_reviewed(tmp_path: Path) -> None:
    done = pinning.pin(tmp_path, tools("find", "wipe"))
    assert [(each.tool, each.change) for each in done] == [
        ("crm.find", "drafted"),
        ("crm.wipe", "drafted"),
    ]
    assert loaded(tmp_path / "crm.yaml") == {"crm.find": False, "crm.wipe": False}


def test_what_a_person_wrote_stays_when_tools_are_added(tmp_path: Path) -> None:
    pinning.pin(tmp_path, tools("find"))
    path = tmp_path / "crm.yaml"
    path.write_text(path.read_text().replace("reviewed: false", "reviewed: true # by Ann"))
    pinning.pin(tmp_path, tools("find", "list"))
    assert "# by Ann" in path.read_text()
    assert loaded(path) == {"crm.find": True, "crm.list": False}


def test_naming_a_changed_tool_renews_its_pin_and_nothing_else(tmp_path: Path) -> None:
    pinning.pin(tmp_path, tools("add", "find", "list"))
    path = tmp_path / "crm.yaml"
    text = path.read_text().replace("  crm.list:", "  # the list is used by support\n  crm.list:")
    path.write_text(text.replace("reviewed: false", "reviewed: true"))
    before = {each.tool: each for each in files.load(path.read_text(), file="f")}
    changed: JsonObject = a_definition("find", description="another")
    now = [*tools("add", "list"), a_tool(changed)]
    done = pinning.pin(tmp_path, now, ["crm.find"])
    after = {each.tool: each for each in files.load(path.read_text(), file="f")}
    assert [each.change for each in done] == ["renewed"]
    assert after["crm.find"].pin == a_tool(changed).pin != before["crm.find"].pin
    assert after["crm.find"].reviewed
    assert "# the list is used by support\n  crm.list:" in path.read_text()
    assert list(after) == ["crm.add", "crm.find", "crm.list"]


def test_a_quarantined_tool_is_not_pinned(tmp_path: Path) -> None:
    bad = a_tool(a_definition("bad"), quarantine=Quarantine(reason="r"))
    assert pinning.pin(tmp_path, [bad]) == ()


def test_drafts_can_be_marked_as_reviewed_at_once(tmp_path: Path) -> None:
    pinning.pin(tmp_path, tools("find"), reviewed=True)
    assert loaded(tmp_path / "crm.yaml") == {"crm.find": True}


def test_marking_an_earlier_draft_leaves_every_other_letter_as_it_is(tmp_path: Path) -> None:
    pinning.pin(tmp_path, tools("find", "wipe"))
    path = tmp_path / "crm.yaml"
    text = path.read_text().replace("    reviewed: false", "    reviewed: false  # ask Ann", 1)
    path.write_text(text)
    done = pinning.pin(tmp_path, tools("find", "wipe"), reviewed=True)
    assert [(each.tool, each.change) for each in done] == [
        ("crm.find", "reviewed"),
        ("crm.wipe", "reviewed"),
    ]
    assert path.read_text() == text.replace("    reviewed: false", "    reviewed: true")
    assert pinning.pin(tmp_path, tools("find", "wipe"), reviewed=True) == ()
