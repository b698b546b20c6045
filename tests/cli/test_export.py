"""`weighbridge events export`."""

import json
from pathlib import Path

import pytest

from gateway.cli import output
from tests.actions.test_standalone import verified
from tests.cli.test_verify import place as place  # noqa: PLC0414 - a fixture
from tests.helpers.events import an_event
from tests.helpers.workspaces import Workspace, a_workspace


def test_a_tenant_gets_its_events_with_what_checks_them(place: Workspace) -> None:
    folder = place.folder / "acme"
    done = place.run("events", "export", "--tenant", "acme", "--out", str(folder))
    assert done.exit_code == 0, done.stderr
    assert f"20 events of `acme` are in {folder}" in done.stdout
    code, said = verified(folder)
    assert (code, said[:14]) == (0, "true: 20 event")
    own = place.run("events", "query", "--json", "--tenant", "acme", "--kind", "admin").stdout
    assert json.loads(own)["body"]["how"] == "export"


def test_what_is_not_covered_yet_is_told(place: Workspace) -> None:
    with place.store() as store:
        store.events.append([an_event()])
    folder = place.folder / "acme"
    done = place.run("events", "export", "--tenant", "acme", "--out", str(folder))
    assert "(1 later events of the log are covered by no checkpoint yet)" in done.stdout


def test_a_program_is_told_how_much_there_is(place: Workspace) -> None:
    folder = place.folder / "none"
    words = ("events", "export", "--tenant", "acme", "--since", "2099-01-01", "--out", str(folder))
    code, document = place.json(*words)
    assert (code, document["folder"], document["events"]) == (0, str(folder), 0)


def test_a_tenant_that_no_event_names_is_a_slip_and_no_empty_export(place: Workspace) -> None:
    folder = place.folder / "none"
    done = place.run("events", "export", "--tenant", "amce", "--out", str(folder))
    assert done.exit_code == output.EXIT_USAGE
    assert done.stderr == (
        "weighbridge: no event in the store names the tenant `amce`; did you mean `acme`?\n"
    )
    assert not folder.exists()
    done = place.run("events", "export", "--tenant", "amce", "--format", "ocsf")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "names the tenant `amce`; did you mean `acme`?" in done.stderr


def test_a_folder_that_is_there_is_left_alone(place: Workspace) -> None:
    done = place.run("events", "export", "--tenant", "acme", "--out", str(place.folder))
    assert done.exit_code == output.EXIT_USAGE
    assert "is there already" in done.stderr


def test_without_a_checkpoint_nothing_is_proven(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    with place.store() as store:
        store.events.append([an_event()])
    new = place.run("events", "keys", "new", "--origin", "log.example/a")
    assert new.exit_code == 0, new.stderr
    done = place.run("events", "export", "--tenant", "acme", "--out", str(tmp_path / "acme"))
    assert done.exit_code == output.EXIT_USAGE
    assert "no checkpoint yet" in done.stderr


@pytest.mark.parametrize("words", [(), ("--tenant", "acme")])
def test_tenant_and_folder_have_to_be_named(place: Workspace, words: tuple[str, ...]) -> None:
    assert place.run("events", "export", *words).exit_code == output.EXIT_USAGE


FORMS = ("json", "csv", "ocsf", "cloudevents")


@pytest.mark.parametrize("form", FORMS)
def test_other_systems_get_every_event_on_a_line(form: str, place: Workspace) -> None:
    done = place.run("events", "export", "--format", form, "--tenant", "acme")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 20 + (form == "csv")
    first = {
        "json": '{"seq":',
        "csv": "seq,time,id,",
        "ocsf": '{"time":',
        "cloudevents": '{"specversion":"1.0","source":',
    }
    assert lines[0].startswith(first[form])
    own = place.run("events", "query", "--json", "--tenant", "acme", "--kind", "admin").stdout
    body = json.loads(own.splitlines()[0])["body"]
    assert (body["how"], body["asked"], body["events"]) == (
        *("export", {"tenant": "acme", "format": form}, 20),
    )


def test_cloudevents_come_from_the_log_that_checkpoints_name(place: Workspace) -> None:
    done = place.run("events", "export", "--format", "cloudevents", "--tenant", "acme")
    origin = json.loads(place.run("events", "verify", "--json").stdout)["store"]["keys"][0]
    source = json.loads(done.stdout.splitlines()[0])["source"]
    assert (bool(source), source) == (True, origin.split("+")[0])


def test_a_file_is_new_and_its_owners_alone(place: Workspace) -> None:
    file = place.folder / "events.csv"
    words = ("events", "export", "--format", "csv", "--out", str(file))
    assert (
        place.run(*words).stdout
        == f"{len(file.read_bytes().splitlines()) - 1} events are in {file}\n"
    )
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes().endswith(b"\r\n")
    assert "is there already; name a new file" in place.run(*words).stderr
    code, document = place.json(*words[:-1], str(place.folder / "more.csv"))
    assert (code, document["file"]) == (0, str(place.folder / "more.csv"))
    nowhere = place.run(*words[:-1], str(place.folder / "none" / "x.csv"))
    assert (nowhere.exit_code, "no such file" in nowhere.stderr) == (2, True)
