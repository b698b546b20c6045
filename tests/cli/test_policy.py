"""`weighbridge policy` as a person types it."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway import jsontext
from gateway.cli.main import main
from gateway.demo.workspace import policies


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
