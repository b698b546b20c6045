"""`weighbridge events`: the log, found and followed."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import output
from gateway.clock import SystemClock
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import JsonObject
from tests.helpers.cases import NOW, an_actor
from tests.helpers.events import an_event
from tests.helpers.fake_server import WAIT_S
from tests.helpers.workspaces import Workspace, a_workspace, weighbridge


@pytest.fixture
def place(tmp_path: Path) -> Workspace:
    return a_workspace(tmp_path)


def kept(place: Workspace, *events: Event) -> None:
    with place.store() as store:
        store.events.append(events)


def asked(place: Workspace, *words: str) -> list[Any]:
    """Return what a query gives a program, one event a line."""
    done = place.run("events", "query", "--json", *words)
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def calls(found: list[Any]) -> list[str]:
    return [event["call"] for event in found]


def test_a_program_gets_each_event_as_it_is_kept_on_a_line_of_its_own(place: Workspace) -> None:
    kept(place, an_event(body={"tool": "crm.find", "status": "ok", "total": 2**60 + 1}))
    (event,) = asked(place)
    assert (event["seq"], event["kind"], event["stage"]) == (1, "tool_call", "finished")
    assert event["body"] == {"tool": "crm.find", "status": "ok", "total": 2**60 + 1}
    assert (event["tenant"], event["actor"]["user"]) == ("acme", "sam")


def decided(call: str) -> Event:
    return an_event(
        call=call,
        kind=EventKind.AUTHORIZATION,
        stage=Stage.DECIDED,
        body={"tool": "crm.wipe", "decision": "deny", "rule": "never", "code": "x"},
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--tenant", "globex"),
        ("--run", "run_2"),
        ("--call", "two"),
        ("--actor", "ann"),
        ("--tool", "crm.wipe"),
        ("--method", "resources/read"),
        ("--kind", "authorization"),
        ("--stage", "decided"),
        ("--decision", "deny"),
        ("--status", "denied"),
        ("--rule", "never"),
        ("--code", "x"),
        ("--trace", "ab" * 16),
    ],
)
def test_every_filter_finds_what_it_names_and_nothing_else(
    words: tuple[str, str], place: Workspace
) -> None:
    changes: dict[str, dict[str, Any]] = {
        "--tenant": {"tenant": "globex"},
        "--run": {"run": "run_2"},
        "--actor": {"actor": an_actor(user="ann")},
        "--status": {"body": {"tool": "crm.find", "status": "denied"}},
        "--trace": {"trace_id": "ab" * 16},
        "--method": {"body": {"tool": "file:///a", "method": "resources/read"}},
    }
    change = changes.get(words[0])
    is_decision = words[0] in {"--tool", "--kind", "--stage", "--decision", "--rule", "--code"}
    wanted = decided("two") if is_decision else an_event(call="two", **(change or {}))
    kept(place, an_event(call="one"), wanted)
    assert calls(asked(place, *words)) == ["two"]


def test_a_question_is_found_and_shown_by_what_was_asked(place: Workspace) -> None:
    body = {"method": "tools/call", "question": "elicitation/create", "tool": "crm.find"}
    asked_back = an_event(
        call="two",
        kind=EventKind.AUTHORIZATION,
        stage=Stage.FINISHED,
        body={**body, "outcome": "decline"},
    )
    kept(place, an_event(call="one", body={"method": "tools/call"}), asked_back)
    assert calls(asked(place, "--method", "elicitation/create")) == ["two"]
    assert calls(asked(place, "--method", "tools/call")) == ["one"]
    _, _, row = place.run("events", "query", "--call", "one", "--call", "two").stdout.splitlines()
    assert row.split()[-4:] == ["elicitation/create", "crm.find", "decline", "two"]


def test_a_time_span_has_its_beginning_and_leaves_its_end_out(place: Workspace) -> None:
    for number, name in enumerate(("one", "two", "three")):
        kept(place, an_event(call=name, at=NOW + timedelta(hours=number)))
    span = ("--since", "2026-11-30T10:00:00", "--until", "2026-11-30T11:00:00+00:00")
    assert calls(asked(place, *span)) == ["two"]


def test_an_age_counts_back_from_now(place: Workspace) -> None:
    now = SystemClock().now()
    for name, age in (("old", timedelta(hours=30)), ("new", timedelta(hours=1))):
        kept(place, an_event(call=name, at=now - age))
    assert calls(asked(place, "--since", "24h")) == ["new"]
    assert calls(asked(place, "--until", "24h")) == ["old"]


@pytest.mark.parametrize("text", ["yesterday", "12parsecs", "2026-13-01"])
def test_what_is_neither_time_nor_age_is_a_wrong_call(text: str, place: Workspace) -> None:
    done = place.run("events", "query", "--since", text)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"weighbridge: `{text}` is neither a time (2026-11-29T09:00:00) nor an age (24h)\n"
    )


def test_that_nothing_fits_is_told_beside_the_table(place: Workspace) -> None:
    kept(place, an_event())
    for name, form in (("nobody", ()), ("noone", ("--json",))):  # who read is of that tenant
        done = place.run("events", "query", "--tenant", name, *form)
        unknown = f"(no event in the store names the tenant `{name}`)\n"
        assert (done.exit_code, done.stderr) == (0, f"{unknown}(nothing fits)\n")


def test_a_limit_is_told_when_it_may_have_cut(place: Workspace) -> None:
    kept(place, *(an_event(call=name) for name in ("one", "two", "three")))
    done = place.run("events", "query", "--limit", "2")
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["call", "one", "two"]
    assert done.stderr == "(the first 2; --limit gives more)\n"
    of_calls = ("--kind", "tool_call")
    assert place.run("events", "query", "--limit", "3", *of_calls).stderr == ""
    assert calls(asked(place, "--newest", "--limit", "2", *of_calls)) == ["three", "two"]
    for all_of_them in (("--all",), ("--limit", "0")):
        assert calls(asked(place, *all_of_them, *of_calls)) == ["one", "two", "three"]


def test_a_person_sees_who_called_what_and_how_it_ended(place: Workspace) -> None:
    called = {"method": "tools/call", "tool": "crm.find", "status": "timeout"}
    kept(place, decided("call_1"), an_event(body=called))
    headers, decision, end = place.run("events", "query").stdout.splitlines()
    assert headers.split() == [
        *("seq", "time", "kind", "stage", "tenant", "who"),
        *("method", "tool", "outcome", "rule", "code", "call"),
    ]
    assert decision.split()[2:] == [
        *("authorization", "decided", "acme", "sam", "crm.wipe", "deny", "never", "x", "call_1")
    ]
    assert end.split()[1:] == [
        *("2026-11-30T09:00:00", "tool_call", "finished", "acme", "sam"),
        *("tools/call", "crm.find", "timeout", "call_1"),
    ]


def test_a_decision_of_a_person_is_shown_by_what_became_of_it(place: Workspace) -> None:
    body = {"tool": "crm.wipe", "status": "pending", "cast": "self_approval", "rule": "wiping"}
    kept(place, an_event(kind=EventKind.APPROVAL, stage=Stage.REFUSED, body=body))
    (_, refused) = place.run("events", "query", "--tool", "crm.wipe").stdout.splitlines()
    assert refused.split()[2:] == [
        *("approval", "refused", "acme", "sam", "crm.wipe", "self_approval", "wiping", "call_1")
    ]


@pytest.mark.parametrize(("user", "who"), [("sam", "sam for Sam (self)"), ("lea", "lea for Sam")])
def test_who_approved_what_for_whom_and_why_is_in_one_line(
    user: str, who: str, place: Workspace
) -> None:
    request: JsonObject = {
        **{"approval": "apr_1", "tool": "crm.wipe", "status": "approved", "rule": "wiping"},
        "requester": {"user": "Sam", "client": "desk"},
    }
    word: JsonObject = {
        **{"cast": "approved", "channel": "terminal", "assurance": "local", "reason": "it is due"}
    }
    kind = EventKind.APPROVAL
    kept(
        place,
        an_event(kind=kind, stage=Stage.REQUESTED, body=request, actor=an_actor()),
        an_event(kind=kind, stage=Stage.DECIDED, body=request | word, actor=an_actor(user=user)),
    )
    _, asked, told = place.run("events", "query", "--kind", "approval").stdout.splitlines()
    assert "  for Sam  " in asked
    for words in ("apr_1", f"  {who}  ", "terminal  local", "it is due"):
        assert words in told
    *_, mixed = place.run("events", "query", "--tool", "crm.wipe").stdout.splitlines()
    assert f"  {who}  " in mixed


def test_who_did_what_with_a_run_is_in_one_line(place: Workspace) -> None:
    run: Any = {"kind": EventKind.RUN, "run": "run_1", "phase": "acting", "actor": an_actor()}
    paused = {"by": "person", "template": "refund", "note": "wrong customer"}
    kept(
        place,
        an_event(id="e1", stage=Stage.PAUSED, body=paused, **run),
        an_event(id="e2", stage=Stage.STOPPED, body={"by": "call", "stop_reason": "failed"}, **run),
    )
    _, first, _ = place.run("events", "query", "--kind", "run").stdout.splitlines()
    for part in ("paused", "run_1", "refund", "acting", "person", "sam", "wrong customer"):
        assert part in first
    _, moved, ended = place.run("events", "query", "--run", "run_1").stdout.splitlines()
    assert (" acting " in moved, " failed " in ended) == (True, True)


def test_without_a_store_there_is_nothing_to_read_and_none_is_made(place: Workspace) -> None:
    done = place.run("events", "query")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"weighbridge: there is no store at `{place.folder}/store.db`; start the gateway once\n"
    )
    assert not (place.folder / "store.db").exists()


@pytest.fixture
def interrupt() -> Iterator[Callable[[], None]]:
    """Interrupts the process as a person does; at the latest when no test should still wait."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may ignore it
    late = threading.Timer(2 * WAIT_S, os.kill, (os.getpid(), signal.SIGINT))
    late.start()
    yield lambda: signal.raise_signal(signal.SIGINT)
    late.cancel()
    signal.signal(signal.SIGINT, before)


def test_a_tail_shows_the_last_events_and_then_each_new_one_until_interrupted(
    place: Workspace, interrupt: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(place, *(an_event(call=name) for name in ("one", "two", "three")))
    heard: list[Any] = []

    def hear(value: JsonObject) -> None:
        heard.append(value)
        if len(heard) == 2:
            kept(place, an_event(call="four"))
        if len(heard) == 3:
            interrupt()

    monkeypatch.setattr(output, "as_json_line", hear)
    done = place.run("events", "tail", "--lines", "2", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert calls(heard) == ["two", "three", "four"]


def test_a_tail_for_people_has_the_columns_of_a_query(
    place: Workspace, interrupt: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(place, an_event())
    said: list[str] = []

    def hear(text: str) -> None:
        said.append(text)
        interrupt()

    monkeypatch.setattr(output, "one_line", hear)
    assert place.run("events", "tail").exit_code == 0
    (line,) = said
    assert line.split()[2:8] == ["tool_call", "finished", "acme", "sam", "crm.find", "ok"]


def test_a_kind_that_does_not_exist_is_a_wrong_call_that_names_those_that_do() -> None:
    done = weighbridge("events", "query", "--kind", "gossip")
    assert done.exit_code == 2
    assert all(kind.value in done.stderr for kind in EventKind)


def test_a_name_that_no_event_has_is_told_beside_what_fits(place: Workspace) -> None:
    kept(place, an_event(body={"tool": "crm.find"}))
    done = place.run("events", "query", "--tool", "crm.find", "--tool", "crm.fnd", "--json")
    assert len(done.stdout.splitlines()) == 1
    note = "(no event in the store names the tool `crm.fnd`; did you mean `crm.find`?)"
    assert note in done.stderr
    done = place.run("events", "query", "--actor", "same")
    assert "names the actor `same`; did you mean `sam`?" in done.stderr
    assert "did you mean" not in place.run("events", "query", "--actor", "sam").stderr
