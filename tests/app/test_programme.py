from gateway.app.programme import Programme, programme
from gateway.clock import SystemClock
from gateway.replay.takes import Take
from gateway.revision import Revision, Unreviewed
from gateway.servers.names import Naming
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer
from gateway.types.runs import Phase
from gateway.types.tools import Listed
from gateway.types.values import replaced
from tests.helpers.cases import a_contract, a_definition, a_revision, a_tool
from tests.helpers.tapes import a_take, a_take_of

DATA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
FIND = a_tool()
ADD = a_tool(a_definition("add", outputSchema=DATA))
FAR = a_tool(a_definition("far"), server="elsewhere")
CONTRACTS = [a_contract(FIND), a_contract(ADD), a_contract(FAR)]


def made(
    *takes: Take, revision: Revision | None = None, definitions: dict[str, JsonObject] | None = None
) -> Programme:
    found = programme(
        takes or [a_take()],
        revision or a_revision(CONTRACTS),
        definitions or {},
        naming=Naming(),
        phase=Phase.ACTING,
        servers={"crm"},
    )
    assert found is not None
    return found


def listed(shown: Programme, kind: Listed = Listed.TOOLS) -> list[JsonObject]:
    return shown.listing(SystemClock()).visible(kind, shown.actor)


def names(shown: Programme) -> list[str]:
    return [str(each["name"]) for each in listed(shown)]


def test_the_tools_of_the_revision_are_listed_whether_or_not_they_were_called() -> None:
    assert names(made()) == ["crm__add", "crm__find"]


def test_tools_of_a_server_that_is_not_configured_any_more_are_listed_if_they_were_called() -> None:
    assert "elsewhere__far" in names(made(a_take(tool="elsewhere.far", name="elsewhere__far")))


def test_a_tool_has_the_name_that_it_was_called_by() -> None:
    shown = made(a_take(name="once_named"))
    assert names(shown) == ["crm__add", "once_named"]
    assert shown.key_of(Method.CALL_TOOL, "once_named") == "crm.find"
    assert shown.key_of(Method.CALL_TOOL, "nothing") == "nothing"


def test_what_the_actor_of_the_run_could_not_use_is_not_listed() -> None:
    only = "rules:\n  - {id: add, decision: allow, match: {tools: [crm.add]}}\n"
    assert names(made(revision=a_revision(CONTRACTS, only))) == ["crm__add"]


def test_a_tool_that_nobody_reviewed_is_listed_by_the_definition_that_was_kept() -> None:
    odd = a_tool(a_definition("odd"))
    take = a_take(tool="crm.odd", name="crm__odd")
    assert take.asked is not None
    take = replaced(take, asked=replaced(take.asked, contract=odd.pin))
    observing = a_revision(CONTRACTS, unreviewed=Unreviewed.OBSERVE)
    assert "crm__odd" in names(
        made(take, revision=observing, definitions={odd.pin: odd.definition})
    )
    assert "crm__odd" not in names(made(take, definitions={odd.pin: odd.definition}))


def schema_of(shown: Programme, name: str) -> object:
    return next(each.get("outputSchema") for each in listed(shown) if each["name"] == name)


def a_result(**data: object) -> Take:
    outcome = Answer(result={"content": [], "structuredContent": dict(data)})  # pyright: ignore[reportArgumentType] - plain JSON
    return a_take(tool="crm.add", name="crm__add", outcome=outcome)


def test_an_output_schema_stays_where_all_kept_results_fit_it() -> None:
    shown = made(a_result(n=1))
    assert schema_of(shown, "crm__add") == DATA
    assert shown.has_output_schema("crm.add")


def test_an_output_schema_goes_where_a_kept_result_does_not_fit_it() -> None:
    shown = made(a_result(n=1), a_result(n={"$redacted": "secret"}))
    assert schema_of(shown, "crm__add") is None
    assert not shown.has_output_schema("crm.add")


def test_resources_and_prompts_are_listed_as_far_as_they_were_used() -> None:
    allowing = (
        "rules:\n  - {id: a, decision: allow, match: {resources: ['**']}}\n"
        "  - {id: b, decision: allow, match: {prompts: ['*']}}\n"
    )
    shown = made(
        a_take_of(Method.READ_RESOURCE, "mem://a"),
        a_take_of(Method.READ_RESOURCE, "mem://[redacted:email]"),
        a_take_of(Method.GET_PROMPT, "greet"),
        revision=a_revision(CONTRACTS, allowing),
    )
    assert [each["uri"] for each in listed(shown, Listed.RESOURCES)] == ["mem://a"]
    assert [each["name"] for each in listed(shown, Listed.PROMPTS)] == ["greet"]
    assert listed(shown, Listed.TEMPLATES) == []


def test_tools_of_the_gateways_own_are_listed_if_they_were_called() -> None:
    assert "run_start" in names(made(a_take(), a_take(tool="", name="run_start", asked=None)))


def test_a_run_of_which_nothing_was_judged_has_no_programme() -> None:
    nothing = programme(
        [a_take(asked=None)],
        a_revision(CONTRACTS),
        {},
        naming=Naming(),
        phase=Phase.ACTING,
        servers={"crm"},
    )
    assert nothing is None
