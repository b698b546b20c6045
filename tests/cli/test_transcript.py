"""Transcripts of models, as a person holds them against a recorded run."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import anyio
import pytest

from gateway.types.json import JsonObject
from tests.helpers.transcribed import CALLS, RUN, TRUE, a_file, recorded
from tests.helpers.workspaces import Workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return anyio.run(recorded, tmp_path_factory.mktemp("made"))


def beside(made: Workspace, file: str, *words: str) -> Any:
    code, said = made.json("replay", "--run", RUN, "--transcript", file, *words)
    assert code == 0, said
    return said


def steps(said: Any) -> list[tuple[str, str, str]]:
    """Return kind, tool and verdict of each step."""
    return [
        (each["kind"], each["tool"], each["after"]["decision"] if each["after"] else "")
        for each in said["steps"]
    ]


def test_the_same_calls_are_the_same_though_the_log_holds_no_iban(
    made: Workspace, tmp_path: Path
) -> None:
    file = a_file(tmp_path, *((name, arguments) for _, name, arguments in CALLS))
    said = beside(made, file)
    assert said["counts"] == {"same": 4, "changed": 0, "moved": 0, "added": 0, "dropped": 0}
    assert [each["recorded"] for each in said["steps"]] == [call for call, *_ in CALLS]
    done = made.run("replay", "--run", RUN, "--transcript", file, "--fail-on", "changed")
    assert done.exit_code == 0


def test_other_arguments_are_judged_in_the_state_of_the_run(
    made: Workspace, tmp_path: Path
) -> None:
    more, other = {**TRUE, "amount": 500}, {**TRUE, "iban": "DE99"}
    said = beside(made, a_file(tmp_path, ("alpha__pay", more)))
    (changed,) = [each for each in said["steps"] if each["kind"] == "changed"]
    assert (changed["before"]["rule"], changed["after"]["rule"]) == ("pay.small", "pay.large")
    assert (changed["differs"], changed["unsure"]) == (["/amount"], ["/iban"])
    assert said["counts"]["dropped"] == 3
    said = beside(made, a_file(tmp_path, ("alpha__pay", other)))
    (changed,) = [each for each in said["steps"] if each["kind"] == "changed"]
    assert (changed["after"]["rule"], changed["differs"]) == ("pay.small", [])


def test_what_was_never_looked_up_is_undecidable(made: Workspace, tmp_path: Path) -> None:
    invented = {**TRUE, "customer": "c-9"}
    said = beside(made, a_file(tmp_path, ("alpha__pay", invented)))
    (changed,) = [each for each in said["steps"] if each["kind"] == "changed"]
    assert (changed["after"], said["undecidable"]) == (None, 1)
    assert changed["missing"][0]["place"] == "origin of /customer"


def test_calls_that_are_new_or_in_another_order_are_told_apart(
    made: Workspace, tmp_path: Path
) -> None:
    found = [("alpha__find", arguments) for _, name, arguments in CALLS if name == "alpha__find"]
    ann, bob, cid = found
    said = beside(made, a_file(tmp_path, bob, ann, cid, ("alpha__pay", {**TRUE, "amount": 7})))
    assert [each["kind"] for each in said["steps"] if each["number"]] == [
        *("same", "moved", "same", "added"),
    ] or [each["kind"] for each in said["steps"] if each["number"]] == [
        *("moved", "same", "same", "added"),
    ]
    assert said["steps"][-1]["after"]["rule"] == "pay.small"  # the customer was found before


def test_names_are_resolved_as_hosts_write_them(made: Workspace, tmp_path: Path) -> None:
    ann: JsonObject = {"name": "ann"}
    names = ("mcp__wb__alpha__find", "alpha.find", "alpha__find", "alpha__find", "find")
    said = beside(made, a_file(tmp_path, *((name, ann) for name in names), ("run_status", {})))
    assert steps(said)[:1] == [("same", "alpha.find", "allow")]
    assert [each for each in steps(said) if each[0] == "added"] == [
        ("added", "alpha.find", "allow"),
        ("added", "find", "deny"),
    ]
    assert said["own_tools"] == 1


def test_another_policy_judges_all_of_it(made: Workspace, tmp_path: Path) -> None:
    policies = made.loaded().settings.policies
    other = tmp_path / "policies"
    other.mkdir()
    for file in policies.rglob("*.yaml"):
        there = other / file.relative_to(policies)
        there.parent.mkdir(exist_ok=True)
        text = file.read_text(encoding="utf-8")
        there.write_text(text.replace("100.0", "1000.0"), encoding="utf-8")
    file = a_file(tmp_path, ("alpha__pay", {**TRUE, "amount": 500}))
    said = beside(made, file, "--policies", str(other))
    assert [each["after"]["rule"] for each in said["steps"] if each["number"]] == ["pay.small"]


def test_it_is_written_in_every_form_and_ci_stops_at_refusals(
    made: Workspace, tmp_path: Path
) -> None:
    file = a_file(tmp_path, ("alpha__pay", {**TRUE, "amount": 500}))

    def done(form: str, *wanted: str) -> Any:
        words = ["--run", RUN, "--transcript", file, "--format", form]
        return made.run("replay", *words, *(f"--fail-on={each}" for each in wanted))

    assert "allow (pay.small) → deny (pay.large)" in done("text").stdout
    assert "4 recorded" in done("html").stdout
    assert Xml.fromstring(done("junit", "refused-calls").stdout).attrib["failures"] == "1"
    (run,) = json.loads(done("sarif").stdout)["runs"]
    assert "refused-call" in {each["ruleId"] for each in run["results"]}
    for wanted, code in (
        ("refused-calls", 1),
        ("grants-less", 1),
        ("grants-more", 0),
        ("undecidable", 0),
        ("invalid-arguments", 0),
    ):
        assert done("text", wanted).exit_code == code, wanted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name it with --run"),
        (["--run", "run_none"], "the log has no judged calls of `run_none`"),
    ],
)
def test_without_a_run_the_command_ends_with_one_line(
    made: Workspace, tmp_path: Path, words: list[str], said: str
) -> None:
    done = made.run("replay", "--transcript", a_file(tmp_path, ("alpha__find", {})), *words)
    assert (done.exit_code, said in done.stderr, done.stderr.count("\n")) == (2, True, 1)


def test_a_file_without_calls_ends_the_command_with_one_line(
    made: Workspace, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text("[]", encoding="utf-8")
    for file, said in ((empty, "no calls of tools in it"), (tmp_path / "no", "can't be read")):
        done = made.run("replay", "--run", RUN, "--transcript", str(file))
        assert (done.exit_code, said in done.stderr) == (2, True)
