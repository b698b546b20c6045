"""Every error that configuration, contracts and policies can give: provoked, placed and mended."""

import re
from pathlib import Path

import pytest

from gateway.actions import revisions
from gateway.clock import SystemClock
from gateway.revision import Unreviewed
from scripts import errors
from scripts.error_sites import Site, sites
from tests.helpers.workspaces import weighbridge

EVERYTHING = errors.everything()
MESSAGES = [message for tried in EVERYTHING.values() for _, said in tried for message in said]
SITES = [*sites()]
# What a sentence has that tells what to do: a second half after `;`, or what has to be there.
MEND = re.compile(r"; |\b(has to|should|needs|write|set)\b")
# Names of ours and of Python's that nobody who writes a file knows.
INTERNAL = re.compile(
    r"\b(tuple|dict|dictionary|str|bool|int|float|NoneType|frozenset|pydantic|validation|Section"
    r"|Settings|Traceback|Exception|codec)\b"
)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.place)
def test_every_place_that_makes_an_error_is_reached_by_an_input(site: Site) -> None:
    assert any(site.makes(message) for message in MESSAGES), site.pattern.pattern


def test_the_places_are_found_where_files_are_loaded() -> None:
    files = {site.place.partition(":")[0] for site in SITES}
    assert len(SITES) > 180
    assert {
        "gateway/config/servers.py",
        "gateway/contracts/faults.py",
        "gateway/policy/compile.py",
        "gateway/policy/run_files.py",
        "gateway/yamltext/loading.py",
    } <= files


@pytest.mark.parametrize("title", EVERYTHING)
def test_every_input_is_met_with_what_is_wrong_with_it(title: str) -> None:
    for text, said in EVERYTHING[title]:
        assert said, f"nothing is said of {text}"
        assert len(said) <= 3, said


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_one_line_with_its_place_and_its_mend(message: str) -> None:
    place = errors.PLACE.match(message)
    assert place is not None
    sentence = message[place.end() :]
    assert "\n" not in sentence
    assert MEND.search(sentence), sentence
    assert not sentence.endswith((".", " "))
    first = sentence[0]
    assert not first.isalpha() or first.islower() or sentence.split()[0].isupper() or is_name(first)
    assert not INTERNAL.search(re.sub(r"`[^`]*`", "", sentence)), sentence


def is_name(first: str) -> bool:
    """Whether a sentence begins with a name that is written so: `UTF-16` and the like."""
    return first == "U"


def test_the_command_says_the_same_sentence(tmp_path: Path) -> None:
    for text, said in EVERYTHING["Configuration"][:12]:
        path = tmp_path / "config.yaml"
        path.write_text(text)
        done = weighbridge("doctor", "--config", str(path))
        assert done.exit_code == 2
        assert done.stderr.splitlines() == [f"weighbridge: {tmp_path}/{each}" for each in said]


def test_pages_status_and_events_say_the_same_sentence() -> None:
    for text, said in EVERYTHING["Rules"][1:12]:
        folder = revisions.folder_of({"desk.yaml": text})
        built = revisions.build(folder, unreviewed=Unreviewed.REFUSE, at=SystemClock().now())
        assert built.problem.startswith(said[0])  # where all of them take it from


def test_the_linter_says_the_same_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("servers: {}\npolicies: policies\n")
    (tmp_path / "policies").mkdir()
    for text, said in EVERYTHING["Rules"][1:12]:
        (tmp_path / "policies" / "desk.yaml").write_text(text)
        done = weighbridge("policy", "lint", "--config", str(tmp_path / "config.yaml"))
        assert done.exit_code == 3
        for message in said:
            assert errors.PLACE.sub("", message) in done.stdout
