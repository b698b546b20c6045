"""`weighbridge policy diff --since` as a person types it."""

from pathlib import Path

import anyio
import pytest

from gateway.cli import difference_past
from gateway.types.leans import Lean
from tests.helpers.compared import ALLOW, DENY, changed, recorded, report
from tests.helpers.recorded import recorded as a_log
from tests.helpers.replayed import NARROWER, WIDER
from tests.helpers.replayed import changed as a_folder
from tests.helpers.workspaces import Workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return anyio.run(a_log, tmp_path_factory.mktemp("made"))


def test_made_up_calls_and_those_of_the_log_stand_in_one_report(
    made: Workspace, tmp_path: Path
) -> None:
    old = str(made.loaded().settings.policies)
    words = ("policy", "diff", old, a_folder(made, tmp_path, WIDER), "--since", "30d")
    text = made.run(*words, "--no-texts").stdout
    assert text.index("WIDER") < text.index(difference_past.TITLE) < text.index("GRANTS MORE")
    assert "alpha.pay: deny → allow  1 call" in text
    code, said = made.json(*words)
    assert (code, said["wider"] > 0, said["history"]["grants_more"][0]["calls"]) == (0, True, 1)
    assert "history" not in made.json(*words[:4])[1]
    comment = made.run(*words, "--format", "markdown").stdout
    assert "```\nReplay of" in comment
    for watched, failed in (("wider", 1), ("narrower", 0), ("any", 1)):
        assert made.run(*words, "--fail-on", watched).exit_code == failed


def test_only_calls_of_a_named_tenant_are_judged(made: Workspace, tmp_path: Path) -> None:
    words = ("policy", "diff", "", a_folder(made, tmp_path, NARROWER))
    _, said = made.json(*words, "--since", "30d", "--tenant", "nobody")
    assert said["history"]["calls"] == 0
    done = made.run(*words, "--tenant", "acme")
    assert done.exit_code == 2
    assert "name --since as well" in done.stderr


def test_each_word_of_fail_on_watches_the_calls_of_the_past() -> None:
    wider = report([changed(recorded(1, DENY), ALLOW, grants=Lean.WIDER)])
    found = {word: fails(wider) for word, fails in difference_past.FAILS.items()}
    assert found == {"wider": True, "narrower": False, "any": True}


def test_no_name_from_outside_ends_the_block_of_a_comment() -> None:
    call = recorded(1, DENY, user="````\n# hello")
    told = difference_past.as_markdown(report([changed(call, ALLOW, grants=Lean.WIDER)]))
    assert "\n# hello" not in told
    assert told.endswith("\n`````")
