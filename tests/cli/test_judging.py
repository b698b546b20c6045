"""How commands judge the calls of a time once more."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.helpers.recorded import recorded
from tests.helpers.workspaces import Workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return anyio.run(recorded, tmp_path_factory.mktemp("made"))


def reads(made: Workspace) -> list[Any]:
    found = made.run("events", "query", "--action", "log_read", "--all", "--json").stdout
    return [json.loads(line)["body"] for line in found.splitlines()]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("replay", ("replay", "--tenant", "amce", "--since", "1d")),
        ("policy diff", ("policy", "diff", "--since", "1d", "--tenant", "amce")),
    ],
)
def test_a_tenant_that_no_event_names_is_told_and_that_it_was_read_is_kept(
    made: Workspace, how: str, words: tuple[str, ...]
) -> None:
    folder = str(made.loaded().settings.policies)
    done = made.run(*words, *((folder, folder) if how == "policy diff" else ()))
    assert "names the tenant `amce`; did you mean `acme`?" in done.stderr, done.stdout
    (read,) = [each for each in reads(made) if each["asked"].get("tenant") == "amce"][-1:]
    assert read["how"] == how


def test_a_whole_report_is_the_same_by_both(made: Workspace, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = made.run("replay", "--since", "1d", "--json", "--out", str(out))
    assert done.exit_code == 0, done.stderr
    report = json.loads(out.read_text())
    folder = str(made.loaded().settings.policies)
    _, said = made.json("policy", "diff", folder, folder, "--since", "1d")
    assert said["history"]["calls"] == report["calls"] > 0
