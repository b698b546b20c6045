"""Reviewing in the terminal: one tool at a time, and what was accepted stays."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gateway.actions.pinning import contracts
from gateway.cli import review
from gateway.cli.main import main
from gateway.types.tools import Contract, Effect, Risk, Sensitivity
from tests.helpers.fake_server import Script, tool
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

MAIL = tool("mail", inputSchema={"type": "object", "properties": {"to": {"type": "string"}}})
TESTS = """\
apiVersion: weighbridge/v1
kind: PolicyTest
callers: {sam: {user: sam, tenant: acme}}
tests:
  - {name: sam may find, as: sam, call: crm.find, args: {}, expect: {decision: allow}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    tools = [tool("find", description="new"), MAIL, tool("new"), {"name": "bad", "inputSchema": 7}]
    place = a_workspace(
        tmp_path,
        {"crm": house.stdio(Script(tools=tools), tmp_path, "crm")},
        contracts=[
            house.contract(tool("find", description="old"), "crm"),
            house.contract(MAIL, "crm", reviewed=False, effect=Effect.WRITE),
        ],
    )
    return place


def walked(place: Workspace, monkeypatch: pytest.MonkeyPatch, *answers: str) -> Result:
    """Answer the questions of a review as somebody at a terminal does."""
    monkeypatch.setattr(review, "_is_terminal", lambda: True)
    typed = "".join(f"{answer}\n" for answer in answers)
    words = ["tools", "review", "--config", str(place.config)]
    return CliRunner().invoke(main, words, input=typed)


def written(place: Workspace) -> dict[str, Contract]:
    found = contracts(place.folder / "policies/contracts")
    return {name.removeprefix("crm."): contract for name, (_, contract) in found.items()}


def test_one_is_accepted_one_changed_one_skipped(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = walked(
        place,
        monkeypatch,
        *("d", "a"),  # find
        *("c", "destructive", "critical", "to=x", "/to=personal", "to", "/to", "a"),  # mail
        "s",  # new
    )
    assert done.exit_code == 0, done.output
    assert "crm.bad can't be reviewed" in done.output
    assert "[1/3]" in done.output
    assert "+ new" in done.output
    assert "`to=x` is no argument with its kind" in done.output
    assert "write the paths of arguments" in done.output
    assert "2 tools accepted, 1 still to review" in done.output
    found = written(place)
    assert found["find"].definition["description"] == "new"
    assert found["mail"].reviewed
    assert (found["mail"].effect, found["mail"].risk) == (Effect.DESTRUCTIVE, Risk.CRITICAL)
    assert found["mail"].sensitive == {"/to": Sensitivity.PERSONAL}
    assert found["mail"].idempotency.intent == ("/to",)
    assert "new" not in found


def test_what_was_accepted_before_one_quits_is_kept(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = walked(place, monkeypatch, "a", "c")  # and hangs up in the middle of a change
    assert done.exit_code == 0, done.output
    assert "1 tool accepted, 2 still to review" in done.output
    found = written(place)
    assert found["find"].definition["description"] == "new"
    assert not found["mail"].reviewed


def test_a_change_that_breaks_the_policy_is_not_written(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = place.folder / "policies"
    (folder / "policy.yaml").write_text(
        "rules:\n  - {id: r, decision: allow, match: {tools: ['crm.*'], effects: [write]}}\n"
    )
    (folder / "contracts/tools.yaml").write_text(
        house.contracts(house.contract(tool("find", description="old"), "crm", effect=Effect.WRITE))
    )
    (folder / "tests").mkdir()
    (folder / "tests/find.yaml").write_text(TESTS)
    # Its definition has changed; as a read, no rule would allow it.
    done = walked(place, monkeypatch, "c", "read", "low", "", "", "a", "q")
    assert "not written" in done.output, done.output
    assert "sam may find" in done.output
    assert written(place)["find"].definition["description"] == "old"


def test_without_a_terminal_names_are_accepted_or_listed(place: Workspace) -> None:
    done = place.run("tools", "review")
    assert done.exit_code == 2
    assert "`--accept`" in done.stderr
    code, told = place.json("tools", "review")
    assert code == 0
    listed: dict[str, Any] = {each["tool"]: each for each in told}
    assert listed["crm.find"]["state"] == "changed"
    assert listed["crm.find"]["changes"][0]["pointer"] == "/description"
    assert listed["crm.new"]["guesses"][0]["field"] == "effect"
    done = place.run("tools", "review", "--accept", "crm.new", "--accept", "crm.mail")
    assert done.exit_code == 0, done.output
    assert "reviewed  crm.new" in done.output
    assert written(place)["new"].reviewed
    _, told = place.json("tools", "review", "--accept", "crm.find")
    assert told[0]["tool"] == "crm.find"
    assert "nothing waits" in place.run("tools", "review").output


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("crm.gone", "no server publishes `crm.gone`"),
        ("crm.bad", "`crm.bad` can't be enforced"),
    ],
)
def test_a_name_that_cannot_be_reviewed_is_said(place: Workspace, name: str, said: str) -> None:
    done = place.run("tools", "review", "--accept", name)
    assert done.exit_code == 2
    assert said in done.stderr
