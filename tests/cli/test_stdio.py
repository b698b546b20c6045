"""`weighbridge stdio`, in this process, on pipes in the place of its standard streams."""

import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.fake_server import Script, tool
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

FIND = tool("find")
HELLO = {"id": 1, "method": "initialize", "params": house.hello()}
GREETED = {"method": "notifications/initialized"}


@contextmanager
def streams(written: bytes) -> Generator[int]:
    """Give the process an input that ends after `written`; yields where its output can be read."""
    saved = os.dup(0), os.dup(1)
    (input_end, to_input), (output, output_end) = os.pipe(), os.pipe()
    os.write(to_input, written)
    for source, number in ((input_end, 0), (output_end, 1)):
        os.dup2(source, number)
        os.close(source)
    os.close(to_input)
    try:
        yield output
    finally:
        for source, number in zip(saved, (0, 1), strict=True):
            os.dup2(source, number)
            os.close(source)
        os.close(output)


def hosted(place: Workspace, *messages: dict[str, Any]) -> tuple[int, list[Any], str]:
    """Say something and leave; returns exit code, what was answered, and the log."""
    lines = b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages)
    with streams(lines) as output:
        done = place.run("stdio")
        os.close(1)  # else the end would never be seen
        said = b""
        while more := os.read(output, 1 << 16):
            said += more
    return done.exit_code, [json.loads(line) for line in said.splitlines()], done.stderr


def a_place(folder: Path, policy: str, **sections: Any) -> Workspace:
    entry = house.stdio(Script(tools=[FIND]), folder)
    return a_workspace(
        folder, {"alpha": entry}, policy=policy, contracts=[house.contract(FIND)], **sections
    )


@pytest.mark.parametrize(("user", "names"), [("sam", ["alpha__find"]), ("ann", [])])
def test_who_acts_is_told_by_the_configuration(
    user: str, names: Sequence[str], tmp_path: Path
) -> None:
    policy = "rules:\n  - {id: sam, decision: allow, match: {users: [sam], tools: ['*']}}\n"
    place = a_place(tmp_path, policy, identity={"local": {"user": user}})
    code, answers, _ = hosted(place, HELLO, GREETED, {"id": 2, "method": "tools/list"})
    assert code == 0
    hello, listed = answers
    assert hello["result"]["serverInfo"]["name"] == "weighbridge"
    assert [each["name"] for each in listed["result"]["tools"]] == names
    (started,) = house.events(tmp_path, action="gateway_started")
    assert started["body"]["servers"] == ["alpha"]


def test_a_line_longer_than_the_configuration_allows_is_refused(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, listen={"max_body": 1024})
    long = {"id": 2, "method": "ping", "params": {"x": "y" * 2000}}
    code, answers, _ = hosted(place, HELLO, GREETED, long)
    assert code == 0
    assert [each["error"]["message"] for each in answers if "error" in each] == [
        "the message is too long"
    ]


def test_what_keeps_it_from_starting_is_told_apart_from_the_protocol(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, policy="rules:\n  - {id: x, decision: perhaps}\n")
    code, answers, log = hosted(place, HELLO)
    assert (code, answers) == (2, [])
    assert log.splitlines()[-1].startswith(f"weighbridge: {tmp_path}/policies/policy.yaml:2:")


def test_the_first_list_waits_for_servers_that_are_starting(tmp_path: Path) -> None:
    slow = Script(tools=[FIND], on_start=[{"delay_ms": 1500}])  # longer than a front waits
    policy = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"
    place = a_workspace(
        tmp_path,
        {"alpha": house.stdio(slow, tmp_path)},
        policy=policy,
        contracts=[house.contract(FIND)],
    )
    code, answers, _ = hosted(place, HELLO, GREETED, {"id": 2, "method": "tools/list"})
    assert code == 0
    (listed,) = (each for each in answers if each.get("id") == 2)
    assert [each["name"] for each in listed["result"]["tools"]] == ["alpha__find"]
