from dataclasses import replace

import pytest

from gateway.policy.match import Matcher, compile_match, glob
from gateway.policy.rules import Match
from gateway.types.json import Json
from gateway.types.tools import Risk
from tests.policy.example import SAM, request


def matcher(match: dict[str, Json]) -> Matcher:
    return compile_match(Match.model_validate(match), {"eu": ("acme", "initech")})


@pytest.mark.parametrize(
    ("pattern", "key", "selected"),
    [
        ("crm.*", "crm.search", True),
        ("crm.*", "crm2.search", False),
        ("*.search", "crm.search", True),
        ("crm.sear?h", "crm.search", True),
        ("crm.search", "crm.search_all", False),
        ("crm.[a-z]", "crm.s", False),
        ("crm.search", "crmXsearch", False),
        ("*", "crm.se\narch", True),
    ],
)
def test_patterns_over_server_and_tool(pattern: str, key: str, selected: bool) -> None:
    assert glob([pattern])(key) is selected
    assert glob(["nothing.else", pattern])(key) is selected


@pytest.mark.parametrize(
    ("match", "why_not"),
    [
        ({"effects": ["read"]}, "effect is write"),
        ({"risk": ["low", "medium"]}, "risk is high"),
        ({"phases": ["planning"]}, "phase is acting"),
        ({"tenants": ["globex"]}, "tenant is acme"),
        ({"users": ["eve"]}, "user is sam"),
        ({"methods": ["api_key"]}, "method is jwt"),
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
        {"effects": ["write"], "risk": ["high"], "phases": ["acting"], "methods": ["jwt"]},
        {"tenants": {"in_set": "eu"}, "users": ["sam", "eve"]},
        {"roles": {"any": ["support", "sre"], "all": ["support"]}},
        {"scopes": {"any": ["crm:read"], "all": ["crm:read", "mail:send"]}},
    ],
)
def test_what_matches_has_no_reason_against_it(match: dict[str, Json]) -> None:
    compiled = matcher(match)
    assert compiled.matches(request(), Risk.HIGH)
    assert compiled.why_not(request(), Risk.HIGH) == ""


def test_the_reasons_for_a_match_name_roles_and_scopes_that_counted() -> None:
    compiled = matcher({"roles": {"any": ["support", "sre"]}, "scopes": {"all": ["crm:read"]}})
    assert compiled.why(request()) == "role support, scope crm:read"
    assert matcher({}).why(request()) == ""


def test_an_unknown_set_holds_nobody() -> None:
    compiled = matcher({"tenants": {"in_set": "nowhere"}})
    assert not compiled.matches(request(actor=replace(SAM, tenant="")), Risk.HIGH)


def test_servers_and_tools_both_have_to_select() -> None:
    compiled = matcher({"servers": ["crm"], "tools": ["*.search"]})
    assert compiled.selects_tool("crm.search", "crm")
    assert not compiled.selects_tool("hr.search", "hr")
    assert not compiled.selects_tool("crm.save", "crm")
    assert matcher({}).selects_tool("any.thing", "any")
