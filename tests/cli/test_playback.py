"""`--playback` of `serve` and `stdio`, in this process: what it refuses."""

from pathlib import Path

import pytest

from tests.cli.test_serve import LISTENERS, served
from tests.helpers.workspaces import Workspace, a_workspace


def a_place(folder: Path) -> Workspace:
    place = a_workspace(folder, **LISTENERS)
    with place.store():
        pass
    return place


@pytest.mark.parametrize("front", ["serve", "stdio"])
def test_a_run_that_is_not_in_the_log_is_refused(tmp_path: Path, front: str) -> None:
    done = a_place(tmp_path).run(front, "--playback", "run_none")
    assert done.exit_code == 2
    assert "the log has no calls of `run_none` that can be played" in done.stderr


@pytest.mark.parametrize("front", ["serve", "stdio"])
def test_options_of_a_playback_need_one(tmp_path: Path, front: str) -> None:
    done = a_place(tmp_path).run(front, "--json")
    assert (done.exit_code, "are for --playback" in done.stderr) == (2, True)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, **LISTENERS)
    done = place.run("serve", "--playback", "run_none")
    assert done.exit_code == 2
    assert not (tmp_path / "store.db").exists()


def test_without_a_playback_nothing_is_different(tmp_path: Path) -> None:
    code, _ = served(a_workspace(tmp_path, **LISTENERS), lambda ready: None)
    assert code == 0
