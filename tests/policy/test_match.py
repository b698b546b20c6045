from dataclasses import replace

import pytest

from gateway.policy.match import Matcher, compile_match
from gateway.policy.methods import Target
from gateway.policy.rules import Match
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.json import Json
from gateway.types.runs import Run
from gateway.types.tools import Kind, Risk
from gateway.types.values import replaced
from tests.policy.example import SAM, request


def matcher(match: dict[str, Json], *, denies: bool = False) -> Matcher:
    sets = {"eu": ("acme", "initech")}
    return compile_match(Match.model_validate(match), sets, denies=denies)


def target(tool: str) -> Target:
    return Target(Method.CALL_TOOL, Kind.TOOL, tool, tool.partition(".")[0])


@pytest.mark.parametrize(
    ("match", "why_not"),
    [
        ({"effects": ["read"]}, "effect is write"),
        ({"risk": ["low", "medium"]}, "risk is high"),
        ({"phases": ["planning"]}, "phase is acting"),
        ({"templates": ["refund"]}, "the run's template is none"),
        ({"tenants": ["globex"]}, "tenant is acme"),
        ({"users": ["eve"]}, "user is sam"),
        ({"authenticated_by": ["api_key"]}, "authentication is jwt"),
        ({"causes": ["lookup", "compensation"]}, "cause is caller"),
        ({"roles": {"any": ["finance", "sre"]}}, "no role of finance, sre"),
        ({"roles": {"all": ["support", "sre"]}}, "no role sre"),
        ({"scopes": {"any": ["a", "b"]}}, "no scope of a, b"),
        ({"scopes": {"all": ["crm:read", "a"]}}, "no scope a"),
    ],
)
def test_what_does_not_match_is_named(match: dict[str, Json], why_not: str) -> None:
    compiled = matcher(match)
    assert not compiled.matches(request(), Risk.HIGH)
    assert compiled.why_not(request(), Risk.HIGH) == why_not


@pytest.mark.parametrize(
    "match",
    [
        {},
        {"effects": ["write"], "risk": ["high"], "phases": ["acting"], "authenticated_by": ["jwt"]},
        {"tenants": {"in_set": "eu"}, "users": ["sam", "eve"], "causes": ["caller", "lookup"]},
        {"roles": {"any": ["support", "sre"], "all": ["support"]}},
        {"scopes": {"any": ["crm:read"], "all": ["crm:read", "mail:send"]}},
    ],
)
def test_what_matches_has_no_reason_against_it(match: dict[str, Json]) -> None:
    compiled = matcher(match)
    assert compiled.matches(request(), Risk.HIGH)
    assert compiled.why_not(request(), Risk.HIGH) == ""


@pytest.mark.parametrize("cause", Cause)
def test_a_rule_about_a_cause_is_about_no_other(cause: Cause) -> None:
    compiled = matcher({"causes": ["compensation"]})
    own = request(cause=cause)
    assert compiled.matches(own, Risk.HIGH) is (cause is Cause.COMPENSATION)
    assert matcher({}).matches(own, Risk.HIGH)


def test_the_reasons_for_a_match_name_roles_and_scopes_that_counted() -> None:
    compiled = matcher({"roles": {"any": ["support", "sre"]}, "scopes": {"all": ["crm:read"]}})
    assert compiled.why(request()) == "role support, scope crm:read"
    assert matcher({}).why(request()) == ""


def test_an_unknown_set_holds_nobody() -> None:
    compiled = matcher({"tenants": {"in_set": "nowhere"}})
    assert not compiled.matches(request(actor=replace(SAM, tenant="")), Risk.HIGH)


def test_servers_and_tools_both_have_to_select() -> None:
    compiled = matcher({"servers": ["crm"], "tools": ["*.search"]})
    assert compiled.selects_target(target("crm.search"))
    assert not compiled.selects_target(target("hr.search"))
    assert not compiled.selects_target(target("crm.save"))
    assert matcher({}).selects_target(target("any.thing"))


def about(match: dict[str, Json], *, denies: bool = False) -> set[tuple[Kind, Method]]:
    """Everything that a rule is about, whatever its name."""
    compiled = matcher(match, denies=denies)
    return {
        (kind, method)
        for kind in Kind
        for method in Method
        if compiled.selects_target(Target(method, kind, "crm.x", "crm"))
    }


def every(kind: Kind, *methods: Method) -> set[tuple[Kind, Method]]:
    return {(kind, method) for method in methods}


TASKS = (Method.GET_TASK, Method.UPDATE_TASK, Method.CANCEL_TASK)
TOOLS = every(Kind.TOOL, Method.CALL_TOOL, *TASKS)
RESOURCES = every(Kind.RESOURCE, Method.READ_RESOURCE, Method.SUBSCRIBE, Method.COMPLETE)
PROMPTS = every(Kind.PROMPT, Method.GET_PROMPT, Method.COMPLETE)
ASKED = (Method.ELICIT, Method.SAMPLE, Method.LIST_ROOTS, Method.LOG)


@pytest.mark.parametrize("denies", [False, True])
def test_patterns_say_what_a_rule_is_about(denies: bool) -> None:
    assert about({"tools": ["crm.*"]}, denies=denies) == TOOLS
    assert about({"resources": ["crm.*"]}, denies=denies) == RESOURCES
    assert about({"prompts": ["crm.*"]}, denies=denies) == PROMPTS


def test_a_rule_that_names_no_target_permits_tools_and_forbids_everything() -> None:
    permitted = {(kind, method) for kind, method in about({}) if kind is Kind.TOOL}
    assert permitted == TOOLS
    assert {method for _, method in about({})} == {method for _, method in TOOLS}
    whole = {(kind, method) for kind in Kind for method in Method}
    assert about({}, denies=True) == about({"servers": ["crm"]}, denies=True) == whole
    assert about({"methods": ["*"]}) == whole


def test_methods_narrow_what_patterns_are_about_and_add_what_a_server_asks() -> None:
    read: dict[str, Json] = {"methods": ["resources/read"], "resources": ["crm.*"]}
    assert about(read) == every(Kind.RESOURCE, Method.READ_RESOURCE)
    asks: dict[str, Json] = {"methods": ["elicitation/create"], "tools": ["crm.*"]}
    assert about(asks) == every(Kind.TOOL, Method.ELICIT)
    assert about({"methods": ["*"], "prompts": ["crm.*"]}) == PROMPTS | every(Kind.PROMPT, *ASKED)
    assert about({"methods": ["elicitation/create"], "tools": ["hr.*"]}) == set()


def test_patterns_over_uris() -> None:
    compiled = matcher({"resources": ["file:///handbook/*"]})
    for uri, selected in (("file:///handbook/a/b?c", True), ("file:///payroll/a", False)):
        found = Target(Method.READ_RESOURCE, Kind.RESOURCE, uri, "files")
        assert compiled.selects_target(found) is selected


@pytest.mark.parametrize(
    ("match", "why_not"),
    [
        ({"resources": ["file:///b/*"]}, "not covered by `file:///b/*`"),
        ({"resources": ["*"], "servers": ["desk"]}, "server is files"),
        ({"resources": ["*"], "methods": ["resources/subscribe"]}, "method is resources/read"),
        ({"methods": ["tools/call"]}, "method is resources/read"),
        ({"tools": ["*"]}, "is about tools"),
        ({"prompts": ["*"]}, "is about prompts"),
        ({"servers": ["files"]}, "names no resources, so it is about tools"),
        ({"resources": ["file:///a/*"], "servers": ["files"]}, ""),
    ],
)
def test_what_makes_a_rule_miss_its_target_is_named(match: dict[str, Json], why_not: str) -> None:
    read = Target(Method.READ_RESOURCE, Kind.RESOURCE, "file:///a/x", "files")
    assert matcher(match).why_not_target(read) == why_not
    assert matcher(match).selects_target(read) is not bool(why_not)


def test_a_server_that_is_not_known_is_told_from_another() -> None:
    read = Target(Method.READ_RESOURCE, Kind.RESOURCE, "file:///a", "")
    why = matcher({"resources": ["*"], "servers": ["files"]}).why_not_target(read)
    assert why == "the server is not known"


def test_servers_are_named_in_patterns_too() -> None:
    assert matcher({"tools": ["crm.find", "*.list", "desk.*"]}).named_servers() == {"crm", "desk"}
    assert matcher({"resources": ["file:///a.b"], "servers": ["f"]}).named_servers() == {"f"}


def test_a_rule_can_be_about_runs_of_a_template() -> None:
    run = Run(run_id="run_1", tenant="acme", owner="o", user="sam", template="refund")
    call = replaced(request(), run=run)
    assert matcher({"templates": ["refund"]}).matches(call, call.risk)
    assert matcher({"templates": ["lookup"]}).why_not(call, call.risk) == (
        "the run's template is refund"
    )


def test_what_a_rule_says_of_runs_can_be_left_open() -> None:
    about = matcher({"templates": ["refund"], "phases": ["planning"], "users": ["sam"]})
    assert about.is_about_runs
    assert not about.matches(request(), Risk.HIGH)
    assert about.in_any_run().matches(request(), Risk.HIGH)
    assert not about.in_any_run().is_about_runs
    assert not matcher({"users": ["eve"]}).in_any_run().matches(request(), Risk.HIGH)
