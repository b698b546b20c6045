"""The examples: complete, without a fault, and pinned to what was published."""

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gateway import jsontext, yamltext
from gateway.actions import revisions
from gateway.clock import SystemClock
from gateway.config.load import load
from gateway.config.terms import terms
from gateway.contracts import files
from gateway.contracts.pins import pin
from gateway.revision import Unreviewed
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract, Effect
from gateway.yamltext import editors
from scripts.examples import EXAMPLES, ROOT, SECRETS, names

SERVERS = ROOT / "tests/contracts/servers"
WANTED = {"fetch", "filesystem", "git", "github", "memory", "playwright", "sqlite"}


def a_map(value: Json) -> JsonObject:
    assert isinstance(value, dict)
    return value


def contracts(name: str) -> dict[str, Contract]:
    return {
        contract.tool: contract
        for path in (EXAMPLES / name / "policies/contracts").glob("*.yaml")
        for contract in files.load(path.read_text(encoding="utf-8"), file=str(path))
    }


@cache
def version(name: str) -> tuple[str, str]:
    """Return the package that an example starts, and its version."""
    said = (EXAMPLES / name / "config.yaml").read_text(encoding="utf-8")
    found = re.search(r"(@?[\w/-]+)(?:@|==)(\d[\w.]*)", said)
    assert found, "a version is fixed"
    return found[1], found[2]


def test_every_example_is_here() -> None:
    assert {*names()} == WANTED


@pytest.mark.parametrize("name", sorted(WANTED))
def test_an_example_has_nothing_to_mend_and_its_tests_reach_every_rule(name: str) -> None:
    settings = load(EXAMPLES / name / "config.yaml", SECRETS).settings
    built = revisions.build(
        revisions.read(EXAMPLES / name / "policies"),
        unreviewed=Unreviewed.REFUSE,
        at=SystemClock().now(),
        servers=frozenset(settings.servers),
        terms=terms(settings),
    )
    assert built.errors == ()
    assert built.findings == ()
    assert built.report is not None
    assert [(one.name, one.problems) for one in built.report.results if not one.passed] == []
    assert built.report.coverage.rule_ratio == 1
    assert built.report.coverage.condition_ratio == 1


def test_all_of_them_fit_into_one_gateway(tmp_path: Path) -> None:
    for name in names():
        shutil.copytree(EXAMPLES / name / "policies", tmp_path, dirs_exist_ok=True)
    built = revisions.build(
        revisions.read(tmp_path), unreviewed=Unreviewed.REFUSE, at=SystemClock().now()
    )
    assert built.errors == ()
    assert built.report is not None
    assert [(one.name, one.problems) for one in built.report.results if not one.passed] == []


@pytest.mark.parametrize("name", sorted(WANTED))
def test_every_tool_was_reviewed_and_says_how_it_is_undone(name: str) -> None:
    for contract in contracts(name).values():
        assert contract.reviewed
        assert contract.pin == pin(contract.definition)
        if contract.effect is not Effect.READ:
            assert contract.idempotency.is_declared, contract.tool
            assert contract.compensation is not None
            assert "nobody has looked" not in contract.compensation.reason, contract.tool


@pytest.mark.parametrize("name", sorted(WANTED))
def test_the_pins_are_those_of_the_published_version(name: str) -> None:
    published = a_map(jsontext.parse((SERVERS / f"{name}.json").read_bytes()))
    assert version(name) == (published["package"], published["version"])
    tools = published["tools"]
    assert isinstance(tools, list)
    pins = {a_map(tool)["name"]: pin(a_map(tool)) for tool in tools}
    for key, contract in contracts(name).items():
        assert contract.pin == pins[key.partition(".")[2]], key


@pytest.mark.parametrize("name", sorted(WANTED))
def test_an_example_says_how_it_is_run_and_which_version_it_is_for(name: str) -> None:
    package, number = version(name)
    said = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"{package} {number}" in said
    assert f"{package} {number}" in index
    assert f"({name}/README.md)" in index
    assert "weighbridge policy test" in said


def kind(path: Path) -> editors.Name:
    match path.parent.name, path.name:
        case "contracts", _:
            return "contracts"
        case "tests", _:
            return "policy-test"
        case _, "config.yaml":
            return "config"
        case _:
            return "policy"


def test_editors_know_every_file_and_find_nothing_wrong() -> None:
    for path in EXAMPLES.rglob("*.yaml"):
        text, name = path.read_text(encoding="utf-8"), kind(path)
        assert text.startswith(editors.schema_line(name)), path
        schema: Any = jsontext.parse((ROOT / f"docs/reference/schemas/{name}.json").read_bytes())
        value: Any = yamltext.load(text, file=str(path)).value
        validator: Any = jsonschema.Draft202012Validator(schema)
        assert not [error.message for error in validator.iter_errors(value)], path


def test_nothing_of_an_example_is_about_this_machine() -> None:
    for path in (each for each in EXAMPLES.rglob("*") if each.is_file()):
        assert str(ROOT) not in path.read_text(encoding="utf-8")
