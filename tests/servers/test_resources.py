"""Which server a URI belongs to."""

from collections.abc import Mapping

from gateway.servers.listing import Offer
from gateway.servers.resources import Resources
from gateway.types.tools import Ambiguous, Kind, Tool


def _offers(**by_server: list[str]) -> dict[str, list[Offer]]:
    return {
        alias: [Offer(name=uri, definition={"uri": uri}, pin=f"sha256:{uri}") for uri in found]
        for alias, found in by_server.items()
    }


def _resources(
    listed: dict[str, list[str]],
    templates: dict[str, list[str]] | None = None,
    holds: Mapping[str, bool | None] | None = None,
    *,
    transparent: bool = False,
) -> Resources:
    return Resources(
        _offers(**listed),
        _offers(**(templates or {})),
        holds or {"a": True, "b": True},
        transparent=transparent,
    )


def _place(found: Tool | Ambiguous | None) -> tuple[str, str]:
    assert isinstance(found, Tool), found
    assert found.kind is Kind.RESOURCE
    return found.server, found.name


def test_a_uri_that_one_server_lists_keeps_its_name() -> None:
    resources = _resources({"a": ["x://1"], "b": ["x://2"]})
    assert [tool.exposed_name for tool in resources.resources] == ["x://1", "x://2"]
    assert _place(resources.find("x://2")) == ("b", "x://2")


def test_a_uri_that_two_servers_list_is_never_guessed() -> None:
    resources = _resources({"a": ["x://1"], "b": ["x://1"]})
    exposed = ["weighbridge://a/x%3A%2F%2F1", "weighbridge://b/x%3A%2F%2F1"]
    assert [tool.exposed_name for tool in resources.resources] == exposed
    found = resources.find("x://1")
    assert isinstance(found, Ambiguous)
    assert [tool.exposed_name for tool in found.candidates] == exposed
    assert [_place(resources.find(uri)) for uri in exposed] == [("a", "x://1"), ("b", "x://1")]


def test_the_qualified_form_works_without_a_collision_and_without_a_list() -> None:
    resources = _resources({"a": ["x://1"]}, {"a": ["y://{v}"]})
    assert _place(resources.find("weighbridge://a/x%3A%2F%2F1")) == ("a", "x://1")
    found = resources.find("weighbridge://a/y://7")
    assert _place(found) == ("a", "y://7")
    assert isinstance(found, Tool)
    assert found.pin == "sha256:y://{v}"
    assert found.exposed_name == "weighbridge://a/y://7"
    assert _place(resources.find("weighbridge://b/z%3A1")) == ("b", "z:1")
    assert resources.find("weighbridge://c/z%3A1") is None


def test_no_server_can_list_itself_into_anothers_qualified_name() -> None:
    trap = "weighbridge://a/x%3A%2F%2F1"
    resources = _resources({"a": ["x://1"], "b": [trap]})
    assert _place(resources.find(trap)) == ("a", "x://1")
    listed = next(tool for tool in resources.resources if tool.server == "b")
    assert listed.exposed_name == "weighbridge://b/weighbridge%3A%2F%2Fa%2Fx%253A%252F%252F1"
    assert _place(resources.find(listed.exposed_name)) == ("b", trap)


def test_a_listed_uri_wins_over_another_servers_template() -> None:
    resources = _resources({"a": ["x://1"]}, {"b": ["x://{v}"]})
    assert _place(resources.find("x://1")) == ("a", "x://1")
    assert _place(resources.find("x://2")) == ("b", "x://2")


def test_a_uri_that_fits_templates_of_two_servers_is_ambiguous() -> None:
    resources = _resources({}, {"a": ["x://{v}"], "b": ["x://{w}"]})
    found = resources.find("x://1")
    assert isinstance(found, Ambiguous)
    assert [_place(tool) for tool in found.candidates] == [("a", "x://1"), ("b", "x://1")]


def test_what_nobody_lists_belongs_to_the_only_server_that_could_have_it() -> None:
    one = _resources({}, holds={"a": True, "b": False})
    found = one.find("x://1")
    assert _place(found) == ("a", "x://1")
    assert isinstance(found, Tool)
    assert found.definition == {"uri": "x://1"}
    assert _resources({}).find("x://1") is None
    assert _resources({}, holds={"a": True, "b": None}).find("x://1") is None
    assert _resources({}, holds={"a": None}).find("x://1") is None
    assert _resources({}, holds={"a": False}).find("weighbridge://a/x%3A1") is None


def test_templates_are_found_by_their_text_and_plain_uris_in_their_place() -> None:
    resources = _resources({"b": ["y://1"]}, {"a": ["x://{v}"], "b": ["x://{v}", "z://{v}"]})
    assert _place(resources.template("z://{v}")) == ("b", "z://{v}")
    assert _place(resources.template("y://1")) == ("b", "y://1")
    assert isinstance(resources.template("x://{v}"), Ambiguous)
    assert _place(resources.template("weighbridge://a/x://{v}")) == ("a", "x://{v}")
    assert [tool.exposed_name for tool in resources.templates] == [
        "weighbridge://a/x://{v}",
        "weighbridge://b/x://{v}",
        "z://{v}",
    ]


def test_a_transparent_gateway_changes_no_uri() -> None:
    own = "weighbridge://other/x%3A1"
    resources = _resources({"a": [own]}, holds={"a": True}, transparent=True)
    assert [tool.exposed_name for tool in resources.resources] == [own]
    assert _place(resources.find(own)) == ("a", own)
    assert _place(resources.find("weighbridge://a/x%3A1")) == ("a", "weighbridge://a/x%3A1")
