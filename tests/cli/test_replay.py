"""`weighbridge replay` as a person types it."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import anyio
import pytest

from tests.helpers.recorded import recorded
from tests.helpers.replayed import NARROWER, OF_IBAN, WIDER, changed
from tests.helpers.workspaces import Workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return anyio.run(recorded, tmp_path_factory.mktemp("made"))


def found(made: Workspace, *words: str) -> Any:
    code, said = made.json("replay", *words)
    assert code == 0, said
    return said


def test_under_what_is_in_force_all_is_the_same(made: Workspace) -> None:
    said = found(made)
    assert (said["calls"], said["same"], said["self_check"]) == (
        3,
        3,
        {"same": 3, "different": [], "unchecked": 0},
    )
    assert made.run("replay", "--fail-on", "changed").exit_code == 0
    assert "Self-check: 3 calls judged by their own revision again" in made.run("replay").stdout


def test_a_wider_rule_grants_more_and_ci_stops_at_it(made: Workspace, tmp_path: Path) -> None:
    folder = changed(made, tmp_path, WIDER)
    said = found(made, "--policies", folder)
    (group,) = said["grants_more"]
    assert (group["before"], group["after"], group["calls"]) == ("deny", "allow", 1)
    assert (group["now"], group["first"]["call"]) == ("pay", "call_3")
    for wanted, code in (("grants-more", 1), ("grants-less", 0), ("undecidable", 0)):
        done = made.run("replay", "--policies", folder, "--fail-on", wanted)
        assert (done.exit_code, "GRANTS MORE" in done.stdout) == (code, True)


def test_a_narrower_rule_grants_less(made: Workspace, tmp_path: Path) -> None:
    said = found(made, "--policies", changed(made, tmp_path, NARROWER))
    (group,) = said["grants_less"]
    assert (group["before"], group["after"], group["calls"]) == ("allow", "deny", 1)
    assert said["prevented"] == []  # it is a read: nothing happened outside


def test_a_rule_of_what_the_log_does_not_hold_is_undecidable(
    made: Workspace, tmp_path: Path
) -> None:
    folder = changed(made, tmp_path, OF_IBAN)
    said = found(made, "--policies", folder)
    (unknown,) = said["unknown"]
    assert (said["undecidable"], unknown["calls"], unknown["readers"]) == (2, 2, ["pay"])
    assert "iban" in unknown["missing"][0]["place"]
    done = made.run("replay", "--policies", folder, "--fail-on", "undecidable")
    assert done.exit_code == 1


def test_a_report_is_written_in_every_form(made: Workspace, tmp_path: Path) -> None:
    folder = changed(made, tmp_path, WIDER)

    def written(form: str) -> str:
        out = tmp_path / form
        words = ("--policies", folder, "--format", form, "--out", str(out))
        done = made.run("replay", *words, "--fail-on", "grants-more")
        assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"wrote {out}\n")
        return out.read_text(encoding="utf-8")

    assert "deny → allow" in written("text")
    assert json.loads(written("json"))["changed"] == 1
    assert "1 call would be granted more" in written("html")
    assert Xml.fromstring(written("junit")).attrib["failures"] == "1"
    (run,) = json.loads(written("sarif"))["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["grants-more"]


def test_only_a_period_a_tenant_or_a_run_is_judged(made: Workspace) -> None:
    for words, calls in (
        (["--since", "1h"], 3),
        (["--since", "2026-01-01", "--until", "2026-01-02"], 0),
        (["--tenant", "acme"], 3),
        (["--tenant", "globex"], 0),
        (["--run", "run_none"], 0),
    ):
        assert found(made, *words)["calls"] == calls, words


def test_contracts_can_be_other_ones_than_those_of_the_folder(
    made: Workspace, tmp_path: Path
) -> None:
    contracts = made.loaded().settings.policies / "contracts"
    (file,) = contracts.glob("*.yaml")
    other = tmp_path / "contracts"
    other.mkdir()
    text = file.read_text(encoding="utf-8")
    scoped = text.replace("reviewed: true", "reviewed: true\n    scopes: [pay]")
    (other / "alpha.yaml").write_text(scoped, encoding="utf-8")
    said = found(made, "--contracts", str(other))
    assert [each["now"] for each in said["grants_less"]] == ["insufficient_scope"]
    empty = tmp_path / "empty"
    empty.mkdir()
    done = made.run("replay", "--contracts", str(empty))
    assert (done.exit_code, "there are no `.yaml` files in it" in done.stderr) == (2, True)


def test_a_kept_revision_can_be_judged_by(made: Workspace) -> None:
    _, history = made.json("policy", "history")
    id = found(made)["subject"]["before"][0]
    assert id in json.dumps(history)
    assert found(made, "--revision", id)["subject"]["revision"] == id
    done = made.run("replay", "--revision", id, "--policies", str(made.folder))
    assert (done.exit_code, "leave one out" in done.stderr) == (2, True)


def test_a_broken_folder_is_refused_with_its_place(made: Workspace, tmp_path: Path) -> None:
    done = made.run("replay", "--policies", changed(made, tmp_path, "rules: [{id: 1}]\n"))
    assert done.exit_code == 2
    assert ".yaml:1:" in done.stderr
    assert done.stderr.count("\n") == 1
