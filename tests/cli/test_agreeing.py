"""`policy proposals`, `propose`, `activate` and `reject`, where no gateway runs."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

from gateway.cli import people
from tests.helpers.workspaces import Workspace, a_workspace

OPEN = "rules:\n  - {id: all, decision: allow, match: {tools: ['*'], roles: {any: [a]}}}\n"
ACCOUNTS = [{"user": each, "tenant": "acme"} for each in ("ann", "bo")]


def a_place(folder: Path) -> Workspace:
    place = a_workspace(folder, policy=OPEN, activation={"people": 2}, admin={"accounts": ACCOUNTS})
    with place.store():
        pass
    return place


def said(place: Workspace, user: str, *words: str) -> tuple[int, Any]:
    with patch.object(people, "_account", lambda: user):
        return place.json("policy", *words, "--as", user)


def proposed(place: Workspace) -> str:
    code, told = said(place, "ann", "propose")
    assert (code, told["lacks"]) == (0, 1)
    return str(told["proposal"]["revision"])


def test_a_folder_is_proposed_agreed_with_and_listed(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    revision = proposed(place)
    listed = place.run("policy", "proposals").stdout
    assert revision[7:19] in listed
    assert "open" in listed
    code, told = said(place, "bo", "activate", revision[7:19])
    assert (code, told["lacks"]) == (0, 0)
    assert told["message"] == f"{revision[7:19]} takes force: bo was the last whom it took"
    code, (only,) = place.json("policy", "proposals")
    assert (only["state"], [each["user"] for each in only["agreed"]]) == ("agreed", ["ann", "bo"])
    code, told = said(place, "ann", "propose")
    assert (code, told["message"]) == (1, "it is in force already")


def test_who_changes_nothing_is_told_why(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    assert "nothing was proposed yet" in place.run("policy", "proposals").stdout
    revision = proposed(place)
    code, told = said(place, "ann", "propose")  # proposed already: to agree, which he has
    assert (code, told["counts"]) == (1, False)
    for words, message in (
        (("activate", revision[:11]), "at least 12 digits"),
        (("activate", "f" * 12), "is proposed; see"),
        (("activate", revision, "--as", "zoe"), "`zoe` is not among"),
    ):
        done = place.run("policy", *words) if "--as" in words else None
        if done is None:
            with patch.object(people, "_account", lambda: "bo"):
                done = place.run("policy", *words, "--as", "bo")
        assert done.exit_code == 2
        assert message in done.stderr


def test_a_proposal_is_turned_down_with_a_reason(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    revision = proposed(place)
    code, told = said(place, "bo", "reject", revision, "--reason", "too wide")
    assert code == 0
    assert told["message"] == f"{revision[7:19]} was turned down by bo; what was in force stays"
    with patch.object(people, "_account", lambda: "bo"):
        done = place.run("policy", "activate", revision, "--as", "bo")
    assert (done.exit_code, "it is rejected already" in done.stderr) == (1, True)
    history = place.run("policy", "history").stdout
    assert "turned down, too wide" in history
    assert "proposed" in history


def test_what_is_proposed_can_be_looked_at(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    revision = proposed(place)
    shown = place.run("policy", "show", revision[7:19])
    assert "never: it was proposed" in shown.stdout
    assert place.run("policy", "show", revision[7:19], "--file", "policy.yaml").stdout == OPEN


def test_a_folder_with_faults_can_not_be_proposed(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    (tmp_path / "policies/policy.yaml").write_text("rulez: []\n")
    done = place.run("policy", "propose", "--as", "ann")
    assert (done.exit_code, "rulez" in done.stderr) == (3, True)


def test_where_a_file_is_enough_nothing_is_proposed(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, policy=OPEN)
    done = place.run("policy", "propose")
    assert (done.exit_code, "takes force by itself" in done.stderr) == (2, True)
