"""What `init` says to people."""

from pathlib import Path

import pytest

from tests.helpers.taken_over import Project


def test_the_plan_says_who_goes_who_stays_and_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Project(tmp_path)
    place.write(
        {
            "My Files": {
                "command": "no-such-program",
                "args": ["-c", "a  | b", "--key=x", ""],
                "gallery": "x",
                "env": {"KEY": "hunter2"},
            },
            "crm": {"url": "https://h/mcp?token=hunter2"},
            "off": {"command": "x", "disabled": True},
        }
    )
    done = place.run("init")
    assert (
        done.stdout
        == """\
.mcp.json (Claude Code): 2 servers will stand behind the gateway
  My-Files (`My Files`)  no-such-program -c 'a  | b' --key=${KEY} \'\'
    not taken over, since only the client knows them: `gallery`
  crm  https://h/mcp?token=${URL_SECRET}
stay in the client
  off  is switched off
will be made
  config.yaml  these servers, in observe mode: every call passes
  weighbridge.env  3 secrets, mode 600
  policies/  drafts of contracts, a first policy with its tests
will be changed, last, with a copy beside it
  .mcp.json
"""
    )


def test_the_end_says_what_did_not_start_and_what_to_do_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Project(tmp_path)
    place.write({"a": place.server("find", "put"), "b": {"command": "no-such-program"}})
    done = place.run("init", "--yes", "--dir", "gate")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    at = lines.index(
        "done: Claude Code has one server now, `weighbridge`, with 2 behind it; contracts "
        "drafted: 2"
    )
    assert lines[at + 1].startswith("not started: `b`: the command `no-such-program` of `b` is not")
    assert "weighbridge tools pin --config gate/config.yaml" in lines[at + 2]
    assert lines[-4:] == [
        "  restart Claude Code, and work as before",
        "  weighbridge observed --config gate/config.yaml      what rules would have done",
        "  weighbridge tools review --config gate/config.yaml  look at the drafts",
        "  weighbridge init --undo --dir gate                  go back",
    ]
    assert "  ok    a  2 tools" in done.stderr
    assert "  FAIL  b  " in done.stderr


def test_a_gateway_that_is_there_is_named_with_who_stands_beside_it(tmp_path: Path) -> None:
    place = Project(tmp_path)
    ours = {"command": "weighbridge", "args": ["stdio"]}
    place.write({"wb": ours, "a": {"command": "x"}})
    done = place.init()
    assert done.exit_code == 0
    assert "is governed already, by its entry `wb`" in done.stdout
    assert "beside it: 1 server; add them" in done.stdout
    assert '"status":"governed"' in place.init("--json").stdout
