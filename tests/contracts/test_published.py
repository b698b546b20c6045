import json
from typing import Any

import pytest

from gateway.contracts import published
from gateway.errors import FileError

PAY: dict[str, Any] = {"name": "pay", "inputSchema": {"type": "object"}}
FIND: dict[str, Any] = {"name": "find", "inputSchema": {"type": "object"}}


def read(value: object) -> Any:
    return published.read(json.dumps(value).encode(), file="f.json")


@pytest.mark.parametrize(
    "value",
    [
        [PAY],
        {"tools": [PAY]},
        {"tools": [PAY], "nextCursor": None},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [PAY], "ttlMs": 1}},
    ],
)
def test_what_one_server_lists_is_taken_in_every_form(value: object) -> None:
    assert read(value) == {"": {"pay": PAY}}


def test_several_servers_stand_side_by_side_each_in_a_form_of_its_own() -> None:
    found = read({"alpha": {"tools": [PAY]}, "beta": [FIND, FIND], "gamma": []})
    assert found == {"alpha": {"pay": PAY}, "beta": {"find": FIND}, "gamma": {}}


REFUSED: list[tuple[Any, str]] = [
    ({}, "no definitions of tools in it"),
    ("tools", "no definitions of tools in it"),
    ({"alpha": 1}, "`alpha` has no list of tools"),
    ({"tools": [{"inputSchema": {}}]}, "tool 1 of its list has no `name`"),
    ([PAY, {**PAY, "title": "x"}], "has `pay` twice, in two forms"),
    ({"tools": [PAY], "nextCursor": "2"}, "one page of several"),
]


@pytest.mark.parametrize(("value", "said"), REFUSED)
def test_anything_else_is_refused_with_its_place(value: object, said: str) -> None:
    with pytest.raises(FileError, match=said):
        read(value)


def test_no_json_and_too_much_of_it_are_refused() -> None:
    with pytest.raises(FileError, match=r"f\.json: no JSON"):
        published.read(b"{", file="f.json")
    with pytest.raises(FileError, match="duplicate key"):
        published.read(b'{"tools":[{"name":"a","inputSchema":{},"inputSchema":{}}]}', file="f")
    with pytest.raises(FileError, match="larger than"):
        published.read(b" " * (published.MAX_BYTES + 1), file="f.json")


@pytest.mark.parametrize(
    ("servers", "known", "server"),
    [
        (["alpha"], [], "alpha"),
        (["alpha", "beta"], ["beta.pay"], "beta"),
        ([], ["beta.pay", "alpha.other"], "beta"),
    ],
)
def test_a_list_is_of_the_only_server_that_it_can_be_of(
    servers: list[str], known: list[str], server: str
) -> None:
    found = published.placed(read([PAY]), file="f", servers=servers, known=known)
    assert found == {server: {"pay": PAY}}


@pytest.mark.parametrize("known", [[], ["alpha.pay", "beta.pay"]])
def test_whose_list_it_is_has_to_be_said_where_it_can_be_of_several(known: list[str]) -> None:
    with pytest.raises(FileError, match="write `SERVER=f`"):
        published.placed(read([PAY]), file="f", servers=["alpha", "beta"], known=known)
    named = {"alpha": {"pay": PAY}}
    assert published.placed(named, file="f", servers=[], known=known) == named
