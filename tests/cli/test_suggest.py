"""`weighbridge policy suggest` as a person types it."""

from pathlib import Path

import anyio
import pytest

from gateway.yamltext.editors import schema_line
from tests.helpers.recorded import recorded
from tests.helpers.workspaces import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return anyio.run(recorded, tmp_path)


def test_a_draft_is_made_of_what_was_allowed_and_loads_as_it_is(place: Workspace) -> None:
    folder = place.loaded().settings.policies
    out = folder / "draft.yaml"
    done = place.run("policy", "suggest", "--since", "2026-01-01", "--out", str(out))
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"1 rule from 2 allowed calls in {out}\n"
    text = out.read_text()
    assert "# 2 calls by 2 users, allowed by pay" in text
    assert "args.amount <= 80.5" in text
    assert "roles: {any: [lead, support]}" in text
    assert "# `iban` is not bounded: of 2 calls it is not known" in text
    assert "rule `never` never decided" in text
    assert place.run("policy", "lint").exit_code == 0
    code, said = place.json("policy", "diff")
    assert (code, said["groups"]) == (0, [])
    again = place.run("policy", "suggest", "--since", "30d", "--out", str(out))
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_one_tool_tenant_or_time_can_be_asked_for(place: Workspace) -> None:
    for words, calls in (
        (["--tool", "alpha.pay"], 2),
        (["--tool", "alpha.other"], 0),
        (["--tenant", "acme"], 2),
        (["--tenant", "globex"], 0),
        (["--until", "2026-01-02"], 0),
    ):
        code, said = place.json("policy", "suggest", "--since", "2026-01-01", *words)
        assert (code, said["calls"]) == (0, calls), words
    _, said = place.json("policy", "suggest", "--since", "2026-01-01")
    (rule,) = said["rules"]
    assert (rule["id"], rule["by"], rule["users"]) == ("suggested.alpha.pay", ["pay"], 2)
    assert said["missed"] == []


def test_a_draft_is_printed_as_a_file(place: Workspace) -> None:
    done = place.run("policy", "suggest", "--since", "2026-01-01", "--tool", "alpha.pay")
    first, second = done.stdout.splitlines()[:2]
    assert f"{first}\n" == schema_line("policy")
    assert second.startswith("# Drafted from what was allowed: from 2026-01-01T00:00:00 tool")
    assert "mode: shadow\nrules:\n" in done.stdout
