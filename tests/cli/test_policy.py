"""`weighbridge policy` as a person types it."""

import json
from itertools import takewhile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.helpers.folders import RULES, TESTS, a_folder
from tests.helpers.workspaces import a_workspace, weighbridge


def test_tests_of_a_policy_are_counted_with_what_they_reached(tmp_path: Path) -> None:
    words = a_folder(tmp_path)
    report = tmp_path / "report.xml"
    done = weighbridge("policy", "test", *words, "--json", "--junit", str(report))
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["passed"], said["failed"]) == (2, 0)
    assert [each["name"] for each in said["results"]] == [
        "a short note passes",
        "a long one does not",
    ]
    assert said["results"][0]["place"].startswith(f"{tmp_path}/tests/desk.yaml:")
    assert (said["rule_coverage"], said["condition_coverage"]) == (50.0, 100.0)
    assert said["never_decided"] == ["read"]
    assert ElementTree.parse(report).getroot().get("tests") == "2"


def test_a_test_that_fails_has_exit_code_4_and_says_what_came_instead(tmp_path: Path) -> None:
    words = a_folder(tmp_path, tests=TESTS.replace("decision: deny", "decision: allow"))
    done = weighbridge("policy", "test", *words)
    assert done.exit_code == 4
    assert "a long one does not" in done.stdout
    code = weighbridge("policy", "test", *words, "--json").exit_code
    assert code == 4


def test_options_that_recording_would_pass_over_are_refused(tmp_path: Path) -> None:
    words = a_folder(tmp_path)
    junit = ("--junit", str(tmp_path / "r.xml"))
    for extra in (("--json",), junit, ("--coverage-min", "50"), ("--verbose",)):
        done = weighbridge("policy", "test", *words, "--record", "call_1", *extra)
        assert done.exit_code == 2
        assert done.stderr == (
            f"weighbridge: --record writes tests and runs none; leave it or {extra[0]} out\n"
        )
    done = weighbridge("policy", "test", *words, "--out", str(tmp_path / "t.yaml"))
    assert (done.exit_code, "the file for --record" in done.stderr) == (2, True)


def test_coverage_below_what_is_asked_for_has_exit_code_1(tmp_path: Path) -> None:
    words = a_folder(tmp_path)
    done = weighbridge("policy", "test", *words, "--coverage-min", "51")
    assert done.exit_code == 1
    assert done.stderr == "weighbridge: coverage is 50 %, below 51 %\n"
    assert weighbridge("policy", "test", *words, "--coverage-min", "50").exit_code == 0


def test_a_policy_without_tests_is_told_where_they_go(tmp_path: Path) -> None:
    done = weighbridge("policy", "test", *a_folder(tmp_path, tests=""))
    assert done.exit_code == 2
    assert done.stderr == (
        "weighbridge: there are no policy tests; write some in `tests/` of the policy folder\n"
    )


BROKEN = RULES.replace("decision: allow", "decision: perhaps", 1)


def test_a_policy_that_does_not_compile_has_exit_code_3_everywhere(tmp_path: Path) -> None:
    words = a_folder(tmp_path, BROKEN)
    for done in (
        weighbridge("policy", "lint", *words),
        weighbridge("policy", "test", *words),
        weighbridge("policy", "explain", "desk.note", *words),
    ):
        assert done.exit_code == 3
        assert f"{tmp_path}/rules.yaml:2:" in done.output


def test_a_reviewed_write_without_a_way_back_fails_the_lint(tmp_path: Path) -> None:
    words = a_folder(tmp_path)
    place = tmp_path / "contracts/desk.yaml"
    written = place.read_text()
    section = next(line for line in written.splitlines(True) if "compensation:" in line)
    after = written[written.index(section) + len(section) :]
    deeper = "".join(takewhile(lambda line: line.startswith("      "), after.splitlines(True)))
    place.write_text(written.replace(section + deeper, ""))
    done = weighbridge("policy", "lint", *words)
    assert done.exit_code == 3
    assert "error [no-compensation] nobody says how `desk.note` is undone" in done.stdout


def test_warnings_fail_only_a_strict_lint(tmp_path: Path) -> None:
    everybody = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"
    words = a_folder(tmp_path, everybody, tests="")
    assert weighbridge("policy", "lint", *words).exit_code == 0
    assert weighbridge("policy", "lint", *words, "--strict").exit_code == 1


def test_a_server_that_the_configuration_does_not_have_is_told_with_the_nearest(
    tmp_path: Path,
) -> None:
    rule = (
        "rules:\n  - {id: read, decision: allow, "
        "match: {resources: ['file:*'], servers: [flies], roles: {any: [support]}}}\n"
    )
    place = a_workspace(tmp_path, {"files": {"command": "x"}}, policy=rule)
    done = place.run("policy", "lint")
    assert done.exit_code == 0
    assert "policy.yaml:2:" in done.stdout
    assert "warning [unknown-server] no server `flies` is configured" in done.stdout
    assert "did you mean `files`?" in done.stdout


def test_a_policy_without_a_fault_is_told_so(tmp_path: Path) -> None:
    strict = RULES.replace(
        "  - {id: read, decision: allow, match: {effects: [read], roles: {any: [support]}}}\n", ""
    )
    done = weighbridge("policy", "lint", *a_folder(tmp_path, strict), "--strict")
    assert (done.exit_code, done.stdout) == (0, "nothing to mend\n")


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_every_form_of_a_finding_has_its_place(form: str, tmp_path: Path) -> None:
    done = weighbridge("policy", "lint", *a_folder(tmp_path, BROKEN), "--format", form)
    assert done.exit_code == 3
    match form:
        case "json":
            (found,) = json.loads(done.stdout)
            assert (found["file"], found["line"]) == (f"{tmp_path}/rules.yaml", 2)
        case "sarif":
            (result,) = json.loads(done.stdout)["runs"][0]["results"]
            place = result["locations"][0]["physicalLocation"]
            assert place["region"]["startLine"] == 2
        case "github":
            assert done.stdout.startswith(f"::error file={tmp_path}/rules.yaml,line=2,")
        case _:
            assert done.stdout.startswith(f"{tmp_path}/rules.yaml:2:")


def test_json_is_a_form_by_its_common_name_too(tmp_path: Path) -> None:
    words = a_folder(tmp_path, BROKEN)
    by_name = weighbridge("policy", "lint", *words, "--json").stdout
    assert by_name == weighbridge("policy", "lint", *words, "--format", "json").stdout
