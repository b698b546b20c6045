"""`weighbridge policy explain`: one request that nobody makes, and every word about it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway import jsontext
from gateway.cli.main import main
from gateway.demo.workspace import policies
from tests.helpers.folders import RULES, TESTS, a_folder
from tests.helpers.workspaces import a_workspace


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
    assert asked.stdout.splitlines() == [
        "deny (no_matching_rule)",
        "  allow             prompts  no     method is roots/list",
    ]


def test_a_rule_that_misses_a_resource_is_shown_with_what_it_misses(folder: list[str]) -> None:
    uri = "file:///handbok/travel.md"
    missed = explained("--resource", uri, "--server", "files", *folder).stdout
    assert missed.splitlines() == [
        "deny (no_matching_rule)",
        "  allow             handbook  no     not covered by `file:///handbook/*`",
    ]
    elsewhere = explained("--resource", uri, "--server", "file", *folder).stdout
    assert "handbook  no     server is file" in elsewhere
    assert "names a server `file`; did you mean `files`?" in elsewhere
    said = json.loads(explained("--resource", uri, *folder, "--json").stdout)
    assert [(each["rule"], each["why"]) for each in said["rules"]] == [
        ("handbook", "the server is not known")
    ]


def test_a_resource_without_its_server_is_told_what_that_means(folder: list[str]) -> None:
    uri = "file:///handbook/travel.md"
    said = explained("--resource", uri, *folder).stdout
    assert said.startswith(
        "no `--server` is given, so no rule with `servers` matches; there are `desk`, `files`\n"
    )
    note = json.loads(explained("--resource", uri, *folder, "--json").stdout)["note"]
    assert note in said


def test_the_only_server_need_not_be_named_and_no_other_can(tmp_path: Path) -> None:
    rule = "rules: [{id: all, decision: allow, match: {resources: ['*'], servers: [files]}}]"
    place = a_workspace(tmp_path, {"files": {"command": "x"}}, policy=rule)
    about = ("policy", "explain", "--resource", "file:///a")
    done = place.run(*about)
    assert done.stdout.startswith("taken as one of `files`, the only server\nallow by all")
    wrong = place.run(*about, "--server", "flies")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr == ("weighbridge: no server `flies` is configured; did you mean `files`?\n")


def test_all_rules_are_shown_when_asked_for(folder: list[str]) -> None:
    said = explained("--prompt", "desk.reply", *folder, "--all").stdout
    assert "handbook  no     is about resources" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["desk.refund", "--prompt", "desk.reply"], "name one TOOL, or one `--resource`, or"),
        ([], "name one TOOL"),
        (["desk.refund", "--server", "desk"], "`--server` goes with `--resource` or `--prompt`"),
        (["desk.refund", "--method", "prompts/get"], "`prompts/get` is never about a tool"),
    ],
)
def test_an_explanation_needs_one_thing_to_be_about(
    words: list[str], said: str, folder: list[str]
) -> None:
    done = explained(*words, *folder)
    assert done.exit_code == 2
    assert said in done.stderr


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


def test_a_call_that_the_gateway_makes_by_itself_is_explained_as_one(tmp_path: Path) -> None:
    rules = RULES.replace("tools: [desk.note]", "tools: [desk.note], causes: [compensation]")
    words = ["desk.note", "--role", "support", "--args", '{"text": "hi"}']
    words += a_folder(tmp_path, rules, tests="")
    for cause, decision in (("caller", "deny"), ("compensation", "allow")):
        done = explained(*words, "--cause", cause, "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["decision"] == decision
    about = ["--prompt", "desk.hi", "--cause", "lookup"]
    done = explained(*about, "--policies", str(tmp_path))
    assert (done.exit_code, done.stderr) == (
        2,
        "weighbridge: `--cause`: the gateway by itself only calls tools\n",
    )


@pytest.fixture
def with_templates(tmp_path: Path) -> list[str]:
    rules = """\
rules:
  - {id: in-any, decision: allow, match: {tools: [desk.note], users: [sam]}}
  - id: in-run
    decision: allow
    match: {tools: [desk.note], templates: [refund]}
    when: has(run.fields.customer_id)
"""
    a_folder(tmp_path, rules, TESTS.replace("deny", "allow").replace("rule: note", "rule: in-any"))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/refund.yaml").write_text("runs: {refund: {fields: {customer_id: {}}}}\n")
    return ["desk.note", "--args", '{"text": "a"}', "--policies", str(tmp_path)]


def test_a_call_is_explained_in_a_run(with_templates: list[str]) -> None:
    outside = explained(*with_templates)
    assert "in-run  no     the run's template is none" in outside.stdout, outside.output
    run = '{"template": "refund", "fields": {"customer_id": "c-1001"}}'
    inside = explained(*with_templates, "--run", run)
    assert inside.stdout.startswith("allow by in-run"), inside.output
    said = json.loads(explained(*with_templates, "--run", run, "--json").stdout)
    assert (said["decision"], said["phase"]) == ("allow", "acting")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("{template: refnd}", "--run: no run template `refnd`; did you mean `refund`?"),
        ("{template: refund, fields: {id: 1}}", "--run: `refund` has no field `id`"),
        ("{templates: refund}", "--run:1:2: unknown key `templates`; did you mean `template`?"),
        ("refund", "--run:1:1: a map of keys is expected at the top; write `key: value`"),
    ],
)
def test_a_run_that_there_can_not_be_is_refused(
    with_templates: list[str], run: str, said: str
) -> None:
    done = explained(*with_templates, "--run", run)
    assert (done.exit_code, done.stderr) == (2, f"weighbridge: {said}\n")
