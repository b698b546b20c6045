"""Exposed names."""

import re

import pytest

from gateway.errors import ConfigurationError
from gateway.servers.names import Naming, by_exposed_name, check_aliases, expose

PLAIN = Naming()


def name(server: str, tool: str, naming: Naming = PLAIN) -> str:
    return expose([(server, tool)], naming)[(server, tool)]


def test_a_clean_name_gets_the_servers_prefix() -> None:
    assert name("alpha", "send_note") == "alpha__send_note"


def test_two_servers_with_one_tool_name_get_two_names() -> None:
    """case: NAM-01"""
    names = expose([("alpha", "send_note"), ("beta", "send_note")], PLAIN)
    assert sorted(names.values()) == ["alpha__send_note", "beta__send_note"]


def test_a_long_name_is_cut_and_keeps_a_digest() -> None:
    """case: NAM-02"""
    alias = "regional-warehouse-and-billing-no1"
    tools = [f"recalculate_stock_levels_for_each_storage_site{end}" for end in "st"]
    names = [name(alias, tool) for tool in tools]
    assert [len(made) for made in names] == [64, 64]
    assert names[0] != names[1]
    assert len(name(alias, tools[0], Naming(host_prefix=20))) == 44


@pytest.mark.parametrize(
    "tool",
    ["clock.read-time", "area/item/rename", "box:shelf/count", "say hello", "日本", "\ud800"],
)
def test_signs_that_models_cannot_use_are_replaced(tool: str) -> None:
    """case: NAM-04"""
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name("alpha", tool))


def test_the_name_of_a_tool_does_not_depend_on_other_tools() -> None:
    alone = name("alpha", "say hello")
    among = expose([("alpha", "say_hello"), ("alpha", "say hello")], PLAIN)
    assert among[("alpha", "say hello")] == alone != among[("alpha", "say_hello")]


def test_a_tool_that_poses_as_another_ones_altered_name_gets_its_own() -> None:
    altered = name("alpha", "say hello")
    posing = altered.removeprefix("alpha__")
    names = expose([("alpha", "say hello"), ("alpha", posing)], PLAIN)
    assert names[("alpha", "say hello")] == altered != names[("alpha", posing)]


def test_a_separator_inside_a_tool_name_stays() -> None:
    """case: NAM-03"""
    assert name("alpha", "inner__find") == "alpha__inner__find"


@pytest.mark.parametrize("alias", ["al__pha", "alpha_", "", "a b", "a.b", "x" * 41])
def test_an_alias_that_makes_names_ambiguous_is_refused_by_name(alias: str) -> None:
    """case: NAM-03"""
    (error,) = check_aliases(["fine-1", alias])
    assert f"`{alias}`" in error


def test_transparent_names_pass_unchanged() -> None:
    transparent = Naming(transparent=True)
    for tool in ("test_simple_text", "a.b-c", "x" * 128):
        assert name("only", tool, transparent) == tool
    assert re.fullmatch(r"say_hello_[0-9a-f]{8}", name("only", "say hello", transparent))


def test_a_transparent_altered_name_gives_way_to_an_unaltered_one() -> None:
    transparent = Naming(transparent=True)
    altered = name("only", "say hello", transparent)
    names = expose([("only", "say hello"), ("only", altered)], transparent)
    assert names[("only", altered)] == altered
    assert re.fullmatch(r"say_hello_[0-9a-f]{24}", names[("only", "say hello")])


def test_a_limit_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="too short"):
        Naming(longest=64, host_prefix=40)


def test_contracts_are_found_by_the_name_that_agents_see() -> None:
    keys = ["alpha.send_note", "alpha.clock.read"]
    found = by_exposed_name(keys, PLAIN)
    assert found["alpha__send_note"] == "alpha.send_note"
    assert found[name("alpha", "clock.read")] == "alpha.clock.read"
    assert by_exposed_name(keys, Naming(transparent=True))["send_note"] == "alpha.send_note"
