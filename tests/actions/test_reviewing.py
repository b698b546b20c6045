"""What waits for a review, and the file with a person's word in it."""

from pathlib import Path

import pytest

from gateway.actions.pinning import contracts
from gateway.actions.reviewing import Edits, Item, accept, to_review
from gateway.contracts import files
from gateway.contracts.standing import Standing, standing
from gateway.errors import FileError
from gateway.types.guarantees import Idempotency
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Risk, Sensitivity, Tool
from tests.helpers.cases import a_tool
from tests.journeys import house

OLD: JsonObject = {"name": "find", "description": "old", "inputSchema": {"type": "object"}}
NEW: JsonObject = {**OLD, "description": "new"}
NOTE: JsonObject = {
    "name": "note",
    "inputSchema": {"type": "object", "properties": {"email": {"type": "string"}}},
}
GONE: JsonObject = {"name": "new_one", "inputSchema": {"type": "object"}}
FINE: JsonObject = {"name": "get", "inputSchema": {"type": "object"}}
TOOLS = [a_tool(each, "crm") for each in (NEW, NOTE, GONE, FINE)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = house.contracts(
        house.contract(OLD, "crm", scopes=frozenset({"crm:read"})),
        house.contract(
            NOTE,
            "crm",
            reviewed=False,
            effect=Effect.WRITE,
            idempotency=Idempotency(is_declared=True, window_s=3600.0),
        ),
        house.contract(FINE, "crm"),
    )
    text = text.replace("    effect: write\n", "    # a guess\n    effect: write  # so it seems\n")
    (tmp_path / "crm.yaml").write_text(text)
    return tmp_path


def waiting(folder: Path) -> dict[str, Item]:
    return {item.tool.name: item for item in to_review(folder, TOOLS)}


def nothing(path: Path, text: str) -> str:
    files.load(text, file=str(path))
    return ""


def test_drafts_changed_ones_and_new_ones_wait(folder: Path) -> None:
    found = waiting(folder)
    assert {name: item.standing for name, item in found.items()} == {
        "find": Standing.CHANGED,
        "note": Standing.UNREVIEWED,
        "new_one": Standing.NO_CONTRACT,
    }
    assert [each.pointer for each in found["find"].changes] == ["/description"]
    assert found["new_one"].guesses
    assert [each.tool.name for each in to_review(folder, TOOLS, ["crm.note"])] == ["note"]


def test_what_is_accepted_is_reviewed_and_nothing_else_of_the_file_changes(folder: Path) -> None:
    file = folder / "crm.yaml"
    before = file.read_text()
    accept(waiting(folder)["note"], Edits(), nothing)
    assert file.read_text() == before.replace("    reviewed: false", "    reviewed: true")
    accept(waiting(folder)["find"], Edits(), nothing)
    after = file.read_text()
    assert after.replace("description: new", "description: old").replace(
        a_tool(NEW, "crm").pin, a_tool(OLD, "crm").pin
    ) == before.replace("    reviewed: false", "    reviewed: true")
    accept(waiting(folder)["new_one"], Edits(), nothing)
    assert file.read_text().startswith(after.rstrip("\n"))
    assert waiting(folder) == {}
    assert all(_stands(folder, tool) is Standing.REVIEWED for tool in TOOLS)


def _stands(folder: Path, tool: Tool) -> Standing:
    return standing(tool, contracts(folder)[tool.key][1])


def test_changes_are_written_with_it(folder: Path) -> None:
    edits = Edits(
        effect=Effect.DESTRUCTIVE,
        risk=Risk.CRITICAL,
        sensitive={"/email": Sensitivity.PERSONAL},
        intent=("/email",),
    )
    accept(waiting(folder)["note"], edits, nothing)
    contract = contracts(folder)["crm.note"][1]
    assert (contract.effect, contract.risk) == (Effect.DESTRUCTIVE, Risk.CRITICAL)
    assert contract.sensitive == {"/email": Sensitivity.PERSONAL}
    assert (contract.idempotency.intent, contract.idempotency.window_s) == (("/email",), 3600.0)
    text = (folder / "crm.yaml").read_text()
    assert "    # a guess\n    effect: destructive  # so it seems\n" in text


def test_a_new_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "contracts"
    (item,) = to_review(folder, [a_tool(GONE, "crm")])
    accept(item, Edits(effect=Effect.READ, risk=Risk.LOW), nothing)
    contract = contracts(folder)["crm.new_one"][1]
    assert (contract.reviewed, contract.effect) == (True, Effect.READ)
    (folder / "crm.yaml").write_text("# kept\ntools: {}  # none yet\n")
    accept(item, Edits(), nothing)
    assert (folder / "crm.yaml").read_text().startswith("# kept\ntools:  # none yet\n")


def test_a_file_that_could_not_be_used_stays_as_it_was(folder: Path) -> None:
    before = (folder / "crm.yaml").read_text()
    with pytest.raises(FileError, match="with that, a test fails"):
        accept(waiting(folder)["note"], Edits(), lambda path, text: "a test fails")
    assert (folder / "crm.yaml").read_text() == before


def test_what_somebody_else_has_changed_meanwhile_is_left_alone(folder: Path) -> None:
    item = waiting(folder)["find"]
    file = folder / "crm.yaml"
    changed = file.read_text().replace(a_tool(OLD, "crm").pin, a_tool(NEW, "crm").pin)
    changed = changed.replace("description: old", "description: new")
    file.write_text(changed)
    with pytest.raises(FileError, match="changed there meanwhile"):
        accept(item, Edits(), nothing)
    assert file.read_text() == changed
