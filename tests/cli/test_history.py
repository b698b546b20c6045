"""`weighbridge policy history` and `policy show` as a person types them."""

from pathlib import Path

import anyio
import pytest

from gateway.store.revisions import StoredRevision
from tests.helpers.cases import NOW
from tests.helpers.workspaces import Workspace, a_workspace

RULE = "rules:\n  - {id: a, decision: allow, match: {resources: ['file:*'], roles: {any: [r]}}}\n"


async def _changed(place: Workspace) -> None:
    (rules,) = place.loaded().settings.policies.glob("*.yaml")
    async with place.opened() as gateway:
        rules.write_text(RULE)
        await gateway.reload("a file changed")
        rules.write_text("rules: [")
        await gateway.reload("a file changed")


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    found = a_workspace(tmp_path, {}, policy="rules: []\n")
    anyio.run(_changed, found)
    return found


def test_what_was_put_in_force_and_what_was_refused_is_listed_newest_first(
    place: Workspace,
) -> None:
    code, said = place.json("policy", "history")
    assert code == 0
    refused, changed, first = said["history"]
    assert "policy.yaml:2:" in refused["errors"][0]
    assert (changed["revision"], changed["from"]) == (said["in_force"], first["revision"])
    assert (changed["change"]["wider"], changed["by"]) == (1, "a file changed")
    lines = place.run("policy", "history").stdout.splitlines()
    assert lines[1].split()[1] == "refused"
    assert lines[2].split()[-2:] == ["in", "force"]
    assert said["in_force"][7:19] in lines[2]
    assert len(place.run("policy", "history", "--limit", "1").stdout.splitlines()) == 2


def test_a_revision_comes_back_whole(place: Workspace, tmp_path: Path) -> None:
    _, said = place.json("policy", "history")
    id = said["in_force"]
    code, shown = place.json("policy", "show", id[7:15])
    assert (code, shown["id"], shown["texts"]["policy.yaml"]) == (0, id, RULE)
    text = place.run("policy", "show", id).stdout
    assert id in text
    assert "policy.yaml" in text
    assert place.run("policy", "show", id, "--file", "policy.yaml").stdout == RULE
    done = place.run("policy", "show", id, "--file", "other.yaml")
    assert (done.exit_code, "has no file `other.yaml`" in done.stderr) == (2, True)
    out = tmp_path / "before"
    assert place.run("policy", "show", id, "--out", str(out)).exit_code == 0
    assert (out / "policy.yaml").read_text() == RULE
    done = place.run("policy", "show", id, "--out", str(out))
    assert (done.exit_code, "is there already" in done.stderr) == (2, True)


async def _hostile(place: Workspace) -> None:
    with place.store() as store:
        await store.revisions.save(
            StoredRevision(
                id="sha256:" + "0" * 64, at=NOW, activated_by="x", texts={"../out.yaml": "x"}
            )
        )


def test_no_file_is_written_outside_of_the_folder(place: Workspace, tmp_path: Path) -> None:
    anyio.run(_hostile, place)
    done = place.run("policy", "show", "00000000", "--out", str(tmp_path / "a" / "b"))
    assert done.exit_code == 2
    assert "outside of its folder" in done.stderr
    assert not (tmp_path / "a" / "out.yaml").exists()


def test_before_anything_was_in_force_that_is_said(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, {})
    with place.store():
        pass
    assert place.run("policy", "history").stdout == "nothing was put in force yet\n"
