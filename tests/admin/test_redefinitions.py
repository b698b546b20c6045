"""Other definitions of tools, as pages and commands take them."""

import json
from typing import Any

import pytest

from gateway.admin.redefinitions import placed
from gateway.errors import FileError
from tests.helpers.cases import a_contract, a_revision, a_tool

REVISION = a_revision([a_contract(a_tool())])
LIST: Any = {"tools": [{"name": "find", "inputSchema": {"type": "object"}}]}


def of(value: object, server: str = "", servers: tuple[str, ...] = ("crm",)) -> list[str]:
    data = json.dumps(value).encode()
    return [*placed(data, file="f", servers=servers, revision=REVISION, server=server)]


def test_definitions_are_of_the_server_that_is_named_or_known() -> None:
    assert of(LIST) == of({"crm": LIST}) == of(LIST, "crm") == ["crm"]
    assert of(LIST, servers=("crm", "desk")) == ["crm"]  # by the contract of one of its tools


@pytest.mark.parametrize(
    ("value", "server", "fault"),
    [
        ({"crn": LIST}, "", "no server `crn` is known; did you mean `crm`?"),
        ({"crm": LIST}, "crm", "names its servers itself"),
        ({"crm": 1}, "", "has no list of tools"),
        (LIST, "nowhere", "no server `nowhere` is known"),
    ],
)
def test_what_is_of_nobody_is_told(value: object, server: str, fault: str) -> None:
    with pytest.raises(FileError, match="f") as caught:
        of(value, server)
    assert fault in str(caught.value)
