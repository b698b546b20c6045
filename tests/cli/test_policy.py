"""`weighbridge policy` as a person types it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from gateway import jsontext
from gateway.cli.main import main
from gateway.demo.workspace import policies
from gateway.types.tools import Effect
from tests.helpers.workspaces import a_workspace, weighbridge
from tests.journeys import house


def explained(*words: str) -> Result:
    return CliRunner().invoke(main, ["policy", "explain", *words])


@pytest.mark.parametrize("name", ["desk.refund", "desk__refund"])
def test_a_tool_is_explained_by_either_of_its_names(name: str) -> None:
    done = explained(name, "--policies", str(policies()), "--json")
    assert done.exit_code == 0, done.output
    said = jsontext.parse(done.stdout)
    assert isinstance(said, dict)
    assert said["tool"] == "desk.refund"


def test_the_name_to_use_in_policies_is_told_to_whoever_used_the_other() -> None:
    folder = ["--policies", str(policies())]
    told = "`desk__refund` is `desk.refund` in contracts and policies\n"
    assert explained("desk__refund", *folder).stdout.startswith(told)
    assert "in contracts and policies" not in explained("desk.refund", *folder).stdout


def test_a_mistyped_name_gets_the_nearest_one_as_policies_write_it() -> None:
    for name in ("desk__refnud", "desk.refnud"):
        done = explained(name, "--policies", str(policies()))
        assert done.exit_code == 2
        assert done.stderr == (
            f"weighbridge: there is no contract for `{name}`; did you mean `desk.refund`?\n"
        )
    done = explained("zzzz", "--policies", str(policies()))
    assert "draft one with `weighbridge tools pin`" in done.stderr


def test_the_exposed_name_follows_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "servers: {desk: {command: x}}\nexpose: {transparent: true}\n"
        f"policies: {policies()}\n"
    )
    done = explained("refund", "--config", str(config))
    assert "is `desk.refund`" in done.stdout, done.output


@pytest.fixture
def folder(tmp_path: Path) -> list[str]:
    (tmp_path / "rules.yaml").write_text(
        """\
rules:
  - id: handbook
    decision: allow
    match: {methods: [resources/read], resources: ["file:///handbook/*"], servers: [files]}
  - {id: prompts, decision: allow, match: {prompts: ["desk.*"]}}
"""
    )
    return ["--policies", str(tmp_path)]


def test_a_resource_is_explained_by_its_own_uri(folder: list[str]) -> None:
    uri = ["--resource", "file:///handbook/travel.md", "--server", "files"]
    done = explained(*uri, *folder, "--json")
    said = jsontext.parse(done.stdout)
    assert isinstance(said, dict)
    assert (said["method"], said["resource"]) == ("resources/read", uri[1])
    assert (said["decision"], said["rule"]) == ("allow", "handbook")
    watched = explained(*uri, *folder, "--method", "resources/subscribe")
    assert "deny (no_matching_rule)" in watched.stdout


def test_a_prompt_and_what_is_asked_about_it_are_explained(folder: list[str]) -> None:
    done = explained("--prompt", "desk.reply", *folder)
    assert done.stdout.startswith("allow by prompts"), done.output
    asked = explained("--prompt", "desk.reply", "--method", "roots/list", *folder)
    assert asked.stdout == "deny (no_matching_rule)\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["desk.refund", "--prompt", "desk.reply"], "name one TOOL, or one `--resource`, or"),
        ([], "name one TOOL"),
        (["desk.refund", "--server", "desk"], "`--server` goes with `--resource`"),
        (["desk.refund", "--method", "prompts/get"], "`prompts/get` is never about a tool"),
    ],
)
def test_an_explanation_needs_one_thing_to_be_about(
    words: list[str], said: str, folder: list[str]
) -> None:
    done = explained(*words, *folder)
    assert done.exit_code == 2
    assert said in done.stderr


READ = "  - {id: read, decision: allow, match: {effects: [read], roles: {any: [support]}}}\n"
RULES = f"""\
rules:
{READ}  - id: note
    decision: allow
    match: {{tools: [desk.note], roles: {{any: [support]}}}}
    when: size(args.text) < 10
"""
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTE = {"name": "note", "inputSchema": TEXT}
TESTS = """\
apiVersion: weighbridge/v1
kind: PolicyTest
callers:
  sam: {user: sam, tenant: acme, roles: [support]}
defaults: {as: sam}
tests:
  - name: a short note passes
    call: desk.note
    args: {text: hello}
    expect: {decision: allow, rule: note}
  - name: a long one does not
    call: desk.note
    args: {text: hello hello hello}
    expect: {decision: deny}
"""


def a_folder(folder: Path, rules: str = RULES, tests: str = TESTS) -> list[str]:
    """Write a policy folder with one contract, and return the words that name it."""
    (folder / "contracts").mkdir()
    contract = house.contract(NOTE, "desk", effect=Effect.WRITE)
    (folder / "contracts/desk.yaml").write_text(house.contracts(contract))
    (folder / "rules.yaml").write_text(rules)
    if tests:
        (folder / "tests").mkdir()
        (folder / "tests/desk.yaml").write_text(tests)
    return ["--policies", str(folder)]


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
        explained("desk.note", *words),
    ):
        assert done.exit_code == 3
        assert f"{tmp_path}/rules.yaml:2:" in done.output


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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{", "`--args` is not JSON: "),
        ("[]", "`--args` must be a JSON object"),
        ('{"a": 1, "a": 2}', "`--args` is not JSON: "),
    ],
)
def test_arguments_that_are_no_json_object_are_a_wrong_call(
    arguments: str, said: str, tmp_path: Path
) -> None:
    done = explained("desk.note", *a_folder(tmp_path), "--args", arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"weighbridge: {said}")


def test_an_explanation_shows_the_check_that_refuses_and_who_would_pass(tmp_path: Path) -> None:
    words = a_folder(tmp_path)
    sent = ["desk.note", *words, "--args", '{"text": 7}', "--role", "support"]
    assert explained(*sent).stdout.startswith("refused by the contract check: ")
    said = json.loads(explained(*sent, "--json").stdout)
    checks = {each["step"]: each["outcome"] for each in said["checks"]}
    assert checks["contract"] == "refused"
    fine = [*sent[:-3], '{"text": "hi"}']
    allowed = json.loads(explained(*fine, "--role", "support", "--json").stdout)
    assert (allowed["method"], allowed["tool"]) == ("tools/call", "desk.note")
    assert (allowed["decision"], allowed["rule"]) == ("allow", "note")
    denied = json.loads(explained(*fine, "--json").stdout)
    assert denied["decision"] == "deny"


def test_an_explanation_can_be_about_another_time(tmp_path: Path) -> None:
    rules = RULES.replace("size(args.text) < 10", "now < timestamp('2027-01-01T00:00:00Z')")
    words = a_folder(tmp_path, rules, tests="")
    for moment, decision in (("2026-12-31T23:59:59", "allow"), ("2027-01-01T00:00:00", "deny")):
        done = explained(
            *("desk.note", *words, "--role", "support", "--args", '{"text": "x"}'),
            *("--now", moment, "--json"),
        )
        assert json.loads(done.stdout)["decision"] == decision
