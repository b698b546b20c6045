"""`weighbridge init` as a person and a program call it."""

import json
from pathlib import Path

import pytest

from gateway.cli import init
from tests.helpers.taken_over import Project


@pytest.fixture
def place(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_without_a_terminal_and_without_yes_it_changes_nothing(place: Project) -> None:
    before = place.write({"a": {"command": "no-such-program"}})
    done = place.init()
    assert done.exit_code == 2
    assert "1 server will stand behind the gateway" in done.stdout
    assert done.stderr == (
        "weighbridge: nothing was changed; say --yes, since there is no terminal to ask at\n"
    )
    assert (place.file.read_bytes(), place.made()) == (before, [])


@pytest.mark.parametrize(("answer", "code"), [("n\n", 1), ("y\n", 0)])
def test_at_a_terminal_it_asks(
    place: Project, answer: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init, "_is_watched", lambda: True)
    before = place.write({"a": place.server("find")})
    done = place.init(asked=answer)
    assert done.exit_code == code
    assert "go ahead?" in done.stderr
    assert (place.file.read_bytes() == before) == (code == 1)
    assert bool(place.made()) == (code == 0)


def test_values_that_only_the_client_has_are_asked_for_and_kept_nowhere(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init, "_is_watched", lambda: True)
    code = Project(place.folder, ".vscode/mcp.json")
    code.write({"a": {**place.server("find"), "env": {"KEY": "${input:key}"}}}, "servers")
    done = code.init(asked="y\nhunter2\n")
    assert done.exit_code == 0, done.stderr
    assert "INPUT_KEY (empty: skip)" in done.stderr
    assert "ok    a  1 tools" in done.stderr
    kept = [each.read_text() for each in place.folder.rglob("*") if each.is_file()]
    assert not [each for each in [*kept, done.output] if "hunter2" in each]


def test_a_program_gets_one_document_and_people_the_rest(place: Project) -> None:
    place.write({"a": place.server("find"), "b": {"command": "x", "disabled": True}})
    done = place.init("--yes", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["status"], said["client"], said["contracts"]) == ("done", "claude-code", 1)
    assert said["left"] == [{"name": "b", "reason": "is switched off"}]
    assert [(each["name"], each["tools"], each["ready"]) for each in said["servers"]] == [
        ("a", 1, True)
    ]
    assert "starting 1 server" in done.stderr


def test_twice_is_once(place: Project) -> None:
    place.write({"a": place.server("find")})
    assert place.init("--yes").exit_code == 0
    after = place.file.read_bytes()
    again = place.init("--yes")
    assert (again.exit_code, place.file.read_bytes()) == (0, after)
    assert "is governed already, by its entry `weighbridge`" in again.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--undo", "--from", "x"), "--undo knows the client's file"),
        (("--force",), "--force is for --undo"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    place: Project, words: tuple[str, ...], said: str
) -> None:
    done = place.run("init", *words)
    assert done.exit_code == 2
    assert said in done.stderr


HOSTILE = {
    "no JSON": "a: 1",
    "twice": '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}',
    "deep": '{"mcpServers":' + '{"a":' * 10_000,
    "large": " " * (10 << 20),
    "a list": '{"mcpServers": [1]}',
    "empty": "",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_cannot_be_used_is_told_in_one_line(place: Project, kind: str) -> None:
    before = place.write(HOSTILE[kind])
    done = place.init("--yes")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"weighbridge: {place.file}")
    assert (place.file.read_bytes(), place.made()) == (before, [])


def test_nothing_to_take_over_has_an_exit_code_of_its_own(place: Project) -> None:
    place.write({"a\nb": {"type": "sse", "url": "https://h/sse"}})
    done = place.init("--yes")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1:] == [
        "stay in the client",
        r"  a\u{a}b  speaks SSE, a withdrawn transport; ask it for its Streamable HTTP `url`",
    ]
    assert json.loads(place.init("--yes", "--json").stdout)["status"] == "nothing"
