"""`weighbridge replay show` as a person types it."""

import json
from pathlib import Path

import anyio
import pytest

from gateway.cli import replay_show
from gateway.types.leans import Lean
from gateway.types.values import replaced
from tests.helpers.compared import ALLOW
from tests.helpers.compared import changed as compared
from tests.helpers.compared import recorded as recorded_call
from tests.helpers.recorded import recorded
from tests.helpers.replayed import OF_IBAN, WIDER, changed
from tests.helpers.workspaces import Workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return anyio.run(recorded, tmp_path_factory.mktemp("made"))


def test_one_call_is_shown_side_by_side(made: Workspace, tmp_path: Path) -> None:
    folder = changed(made, tmp_path, WIDER)
    shown = made.run("replay", "show", "call_3", "--policies", folder).stdout.splitlines()
    assert shown[0].startswith("call_3: alpha.pay by kim of acme")
    (first,) = (line for line in shown if line.startswith("  → "))
    assert first.split() == ["→", "decision", "deny", "allow"]
    _, said = made.json("replay", "show", "call_3", "--policies", folder)
    assert (said["grade"], said["grants"], said["self_check"]) == ("changed", "wider", True)
    assert "DE02120300000000202051" not in json.dumps(said)
    missing = made.run("replay", "show", "call_1", "--policies", folder.replace("policies", "x"))
    assert missing.exit_code == 2


def test_what_is_missing_for_one_call_is_named(made: Workspace, tmp_path: Path) -> None:
    shown = made.run(
        "replay", "show", "call_1", "--policies", changed(made, tmp_path, OF_IBAN)
    ).stdout
    assert "undecidable: " in shown
    assert "iban" in shown
    assert "for pay" in shown


def test_a_call_that_is_not_in_the_log_is_told_so(made: Workspace) -> None:
    done = made.run("replay", "show", "call_9")
    assert done.exit_code == 2
    assert "no judged call `call_9`" in done.stderr


def test_a_limit_without_room_is_said_in_words_and_to_programs_by_its_name() -> None:
    full = replaced(ALLOW, exceeded="daily")
    found = compared(recorded_call(1, ALLOW), full, grants=Lean.NARROWER)
    told = "\n".join(replay_show.lines(found))
    assert "over a limit" in told
    assert "no_room" not in told
