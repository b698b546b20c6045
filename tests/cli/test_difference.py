"""`weighbridge policy diff` as a person types it."""

import json
from pathlib import Path

import anyio
import pytest

from tests.helpers.edits import TEXTS, edited
from tests.helpers.workspaces import Workspace, a_workspace, weighbridge

WIDER = ("args.amount <= 1000.0", "args.amount <= 5000.0")
NARROWER = ("tenants: [acme, initech]", "tenants: [acme]")


def written(folder: Path, texts: dict[str, str]) -> str:
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return str(folder)


@pytest.fixture
def old(tmp_path: Path) -> str:
    return written(tmp_path / "old", {**TEXTS})


def nowhere(tmp_path: Path) -> list[str]:
    return ["--config", str(tmp_path / "none.yaml")]


@pytest.mark.parametrize(
    ("edit", "fails"),
    [(WIDER, {"wider", "any"}), (NARROWER, {"narrower", "any"}), (("# x", "# x"), set[str]())],
)
def test_the_exit_code_says_whether_something_goes_the_way_that_is_watched(
    edit: tuple[str, str], fails: set[str], old: str, tmp_path: Path
) -> None:
    texts = (
        edited(edit) if edit[0] != "# x" else {**TEXTS, "rules.yaml": "# x\n" + TEXTS["rules.yaml"]}
    )
    new = written(tmp_path / "new", texts)
    for watched in ("wider", "narrower", "any"):
        done = weighbridge("policy", "diff", old, new, "--fail-on", watched, *nowhere(tmp_path))
        assert done.exit_code == (1 if watched in fails else 0), done.stderr
    assert weighbridge("policy", "diff", old, new, *nowhere(tmp_path)).exit_code == 0


def test_each_form_tells_of_the_same_change(old: str, tmp_path: Path) -> None:
    words = ["policy", "diff", old, written(tmp_path / "new", edited(WIDER)), *nowhere(tmp_path)]
    text = weighbridge(*words).stdout
    assert "  pay.refund: deny (no_matching_rule) → require_approval (refund.large)" in text
    comment = weighbridge(*words, "--format", "markdown").stdout
    assert comment.startswith("### Policy: ")
    said = json.loads(weighbridge(*words, "--json").stdout)
    assert said["wider"] == 1
    assert json.loads(weighbridge(*words, "--format", "json", "--no-texts").stdout)["wider"] == 1
    few = json.loads(weighbridge(*words, "--json", "--requests", "20").stdout)
    assert (few["requests"], few["complete"]) == (20, False)


def test_a_folder_that_can_t_be_read_has_exit_code_2_and_a_place(old: str, tmp_path: Path) -> None:
    broken = written(tmp_path / "new", {**TEXTS, "rules.yaml": "rules: [{id: a}]"})
    done = weighbridge("policy", "diff", old, broken, *nowhere(tmp_path))
    assert done.exit_code == 2
    assert f"{tmp_path}/new/rules.yaml:1:" in done.stderr
    done = weighbridge("policy", "diff", old, str(tmp_path / "none"), *nowhere(tmp_path))
    assert done.exit_code == 2
    assert "is neither a folder nor a revision" in done.stderr


async def _up_once(place: Workspace) -> None:
    async with place.opened():
        pass


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    """A workspace whose gateway has been up once."""
    (tmp_path / "home").mkdir()
    found = a_workspace(tmp_path / "home", {}, policy="rules: []\n")
    anyio.run(_up_once, found)
    return found


def test_without_names_the_folder_is_held_against_the_revision_in_force(place: Workspace) -> None:
    code, said = place.json("policy", "diff")
    assert (code, said["before"]) == (0, said["after"])
    first = said["before"]
    match = "match: {resources: ['file:*'], roles: {any: [r]}}"
    folder = place.loaded().settings.policies
    (rules,) = folder.glob("*.yaml")
    rules.write_text(f"rules:\n  - {{id: a, decision: allow, {match}}}\n")
    code, said = place.json("policy", "diff", "--fail-on", "wider")
    assert (code, said["before"], said["wider"]) == (1, first, 1)
    code, said = place.json("policy", "diff", first[7:19], str(folder))
    assert (code, said["wider"]) == (0, 1)
    assert said["groups"][0]["before"]["place"] == ""
    code, said = place.json("policy", "diff", str(folder), first)
    assert (said["narrower"], said["after"]) == (1, first)
    assert said["groups"][0]["before"]["place"].endswith(f"{rules.name}:2")


def test_a_revision_that_is_not_there_is_told(place: Workspace) -> None:
    done = place.run("policy", "diff", "abcd1234")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "the store has no revision `abcd1234`" in done.stderr
