"""The first policy, and the tests that come with it."""

from datetime import UTC, datetime

from gateway import yamltext
from gateway.actions import revisions, starter
from gateway.config.settings import Settings
from gateway.config.terms import terms
from gateway.policy.findings import Level
from gateway.revision import Unreviewed
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Effect, Risk
from tests.helpers.fake_server import tool
from tests.journeys import house

ARGUMENTS: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 3},
        "mode": {"enum": ["a", "b"]},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 5}, "minItems": 1},
    },
    "required": ["path", "mode", "days"],
    "additionalProperties": False,
}


def contracts() -> list[Contract]:
    return [
        house.contract(tool("read", inputSchema=ARGUMENTS), reviewed=False),
        house.contract(tool("put"), effect=Effect.WRITE, risk=Risk.HIGH, reviewed=False),
        house.contract(tool("rm"), effect=Effect.DESTRUCTIVE, risk=Risk.CRITICAL, reviewed=False),
    ]


def built(drafts: list[Contract], servers: list[str]) -> revisions.Built:
    texts = {
        "starter.yaml": starter.POLICY,
        "tests/starter.yaml": starter.tests(starter.cases(drafts, servers)),
    }
    if drafts:
        texts["contracts/alpha.yaml"] = house.contracts(*drafts)
    settings = Settings.model_validate(yamltext.load(starter.IDENTITY, file="c").value)
    return revisions.build(
        revisions.folder_of(texts),
        unreviewed=Unreviewed.OBSERVE,
        at=datetime(2026, 11, 30, tzinfo=UTC),
        servers=servers,
        terms=terms(settings),
    )


def test_it_passes_its_tests_and_the_linter_has_nothing_against_it() -> None:
    found = built(contracts(), ["alpha"])
    assert not found.problem
    assert found.report is not None
    assert [each.name for each in found.report.results] == [
        "a read passes",
        "a read passes, for nobody else",
        "a write asks first",
        "a write asks first, for nobody else",
        "what destroys is decided by a person",
        "what destroys is decided by a person, for nobody else",
        "a resource can be read",
        "by nobody else",
    ]
    said = [each for each in found.findings if each.check != "unreviewed-tool"]
    assert not [each.message for each in said if each.level is not Level.INFO]


def test_without_contracts_there_is_still_something_to_test() -> None:
    found = built([], ["alpha"])
    assert not found.problem
    assert found.report is not None
    assert len(found.report.results) == 2


def test_a_tool_that_no_arguments_were_found_for_is_passed_over() -> None:
    never = house.contract(tool("aa", inputSchema={"type": "object", "not": {}}), reviewed=False)
    names = [str(each.asked.get("call")) for each in starter.cases([never, *contracts()], [])]
    assert "alpha.aa" not in names
    assert "alpha.read" in names
