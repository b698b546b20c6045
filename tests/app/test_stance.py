"""The mode of a running gateway follows one line of its configuration file."""

from pathlib import Path

import anyio.lowlevel
import pytest

from gateway.app.stance import Rereading, Stance
from gateway.relay.questions import CAPABILITY_OF
from gateway.types.calls import Method
from gateway.types.decisions import Mode


def rereading(
    path: Path,
    stance: Stance,
    turned: list[tuple[Mode, str]],
    caught_up: list[Mode] | None = None,
) -> Rereading:
    def turn(mode: Mode, because: str) -> None:
        stance.mode = mode
        turned.append((mode, because))

    async def policies() -> None:
        await anyio.lowlevel.checkpoint()
        if caught_up is not None:
            caught_up.append(stance.mode)

    return Rereading(path=path, environ={}, stance=stance, turn=turn, policies=policies)


async def test_the_line_is_taken_over_and_nothing_else(tmp_path: Path) -> None:
    file, stance, turned = tmp_path / "config.yaml", Stance(), list[tuple[Mode, str]]()
    (tmp_path / "policies").mkdir()
    look = rereading(file, stance, turned)
    for text in ("mode: observe\n", "mode: observe\nlimits: {call_timeout: 1s}\n", "servers: {}\n"):
        file.write_text(text)
        await look("a file changed")
    assert turned == [(Mode.OBSERVE, "a file changed"), (Mode.ENFORCE, "a file changed")]


async def test_policies_are_taken_as_they_are_before_the_mode_turns(tmp_path: Path) -> None:
    file, stance, modes = tmp_path / "config.yaml", Stance(), list[Mode]()
    (tmp_path / "policies").mkdir()
    look = rereading(file, stance, [], modes)
    for mode in ("enforce", "observe", "observe", "enforce"):
        file.write_text(f"mode: {mode}\n")
        await look("a file changed")
    assert modes == [Mode.ENFORCE, Mode.OBSERVE]  # still the mode of before, both times


async def test_a_file_that_cannot_be_used_changes_nothing_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, stance = tmp_path / "config.yaml", Stance(mode=Mode.OBSERVE)
    look = rereading(file, stance, turned := [])
    file.write_text("mode: enforcing\n")
    await look("a file changed")
    await look("a file changed")
    assert turned == []
    assert stance.mode is Mode.OBSERVE
    assert "config.yaml:1:7" in stance.problem
    assert len([each for each in caplog.records if "the mode stays" in each.message]) == 1
    file.write_text("mode: observe\n")
    await look("a file changed")
    assert stance.problem == ""


def test_while_decisions_are_recorded_servers_may_ask_anything() -> None:
    assert [*Stance().questions([Method.ELICIT])] == [Method.ELICIT]
    assert {*Stance(mode=Mode.OBSERVE).questions([])} == {*CAPABILITY_OF}
