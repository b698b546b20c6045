"""URIs that name a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.servers import uris
from gateway.servers.uris import Place

_ANY = st.text(st.characters(exclude_categories=()), min_size=1)


@given(st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True), _ANY)
def test_a_qualified_uri_gives_back_exactly_what_went_in(server: str, uri: str) -> None:
    escaped = uris.qualified(server, uri)
    assert uris.parse(escaped) == Place(server, uri)
    assert escaped.isascii()


@given(_ANY, _ANY)
def test_different_resources_never_have_one_qualified_uri(one: str, other: str) -> None:
    assert (uris.qualified("a", one) == uris.qualified("a", other)) is (one == other)


def test_what_a_qualified_template_expands_to_is_the_servers_own_uri() -> None:
    listed = uris.qualified_template("a", "file:///{path}")
    assert listed == "weighbridge://a/file:///{path}"
    expanded = listed.replace("{path}", "b%20c")
    assert uris.parse(expanded) == Place("a", "file:///b%20c")
    assert uris.parse(uris.qualified_template("a", "{+all}")) == Place("a", "{+all}")


@pytest.mark.parametrize(
    "uri", ["file:///x", "weighbridge://", "weighbridge://a", "weighbridge://a/", "x://a/%ff", ""]
)
def test_other_uris_name_no_server(uri: str) -> None:
    assert uris.parse(uri) is None


def test_an_escaped_tail_that_is_no_text_names_nothing() -> None:
    assert uris.parse("weighbridge://a/%ff") is None
