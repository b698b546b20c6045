from xml.etree import ElementTree as Xml

import pytest

from gateway.replay import transcript_forms as forms
from gateway.replay.report import Wanted
from gateway.replay.transcribing import Kind, Step, Transcribed
from gateway.replay.types import Gone, Judgement, Missing
from gateway.types.decisions import DecisionEffect
from gateway.types.outcomes import Status
from gateway.types.values import replaced

ALLOWED = Judgement(effect=DecisionEffect.ALLOW, rule="small", place="p.yaml:3")
DENIED = Judgement(
    effect=DecisionEffect.DENY,
    status=Status.INVALID_ARGUMENTS,
    code="schema",
    reason="no\x0b good",
    place="p.yaml:7",
)
STEPS = (
    Step(kind=Kind.SAME, tool="a.b", number=1, recorded="c1", before=ALLOWED, after=ALLOWED),
    Step(
        kind=Kind.CHANGED,
        tool="a.b",
        number=2,
        recorded="c2",
        seq=9,
        differs=("/amount",),
        unsure=("/iban",),
        before=ALLOWED,
        after=DENIED,
    ),
    Step(kind=Kind.DROPPED, tool="a.c", recorded="c3", before=ALLOWED),
    Step(
        kind=Kind.ADDED,
        tool="a.d",
        number=3,
        missing=(Missing(place="origin of /id", why=Gone.NOT_ASKED, readers=("provenance",)),),
        certain=DecisionEffect.DENY,
    ),
)
FOUND = Transcribed(
    run="run_1",
    tenant="acme",
    revision="sha256:0123456789abcdef",
    recorded=3,
    proposed=3,
    steps=STEPS,
    own=2,
)


def test_people_read_what_became_of_each_call() -> None:
    told = "\n".join(forms.lines(FOUND))
    for words in (
        "run_1 of acme, by 0123456789ab",
        "3 calls, 3 recorded: 1 same, 1 changed, 0 moved, 1 added, 1 dropped",
        "2 would be refused, of 1 nobody can know",
        "left out: 2 calls of the gateway's own tools",
        "~   2  a.b  allow (small) → deny (schema)",
        "differs at /amount",
        "may differ at /iban",
        "-      a.c  not made any more; it was allow (small)",
        "+   3  a.d  undecidable, whatever it was: deny",
        "needs origin of /id (not_asked) for provenance",
    ):
        assert words in told, words


def test_programs_get_all_of_it() -> None:
    said = forms.as_json(FOUND)
    assert said["counts"] == {"same": 1, "changed": 1, "moved": 0, "added": 1, "dropped": 1}
    assert (said["refused"], said["undecidable"]) == (2, 1)


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (Wanted.CHANGED, 3),
        (Wanted.UNDECIDABLE, 1),
        (Wanted.REFUSED_CALLS, 2),
        (Wanted.GRANTS_LESS, 1),
        (Wanted.GRANTS_MORE, 0),
        (Wanted.INVALID_ARGUMENTS, 1),
        (Wanted.SCHEMA_BREAKS, 0),
    ],
)
def test_a_pipeline_fails_on_what_it_names(wanted: Wanted, count: int) -> None:
    assert forms.has(FOUND, wanted) is (count > 0)
    suite = Xml.fromstring(forms.junit(FOUND, fail_on=[wanted]))
    assert (suite.attrib["failures"], suite.attrib["tests"]) == (str(count), "4")


def test_code_hosts_are_told_of_the_line_that_refuses() -> None:
    said = forms.sarif(FOUND, version="1")
    (run,) = said["runs"] if isinstance(said["runs"], list) else []
    assert isinstance(run, dict)
    results = run["results"]
    assert isinstance(results, list)
    ids = [each["ruleId"] for each in results if isinstance(each, dict)]
    assert ids == ["changed-call", "refused-call", "dropped-call", "added-call", "refused-call"]


def test_a_limit_without_room_is_said_in_words() -> None:
    full = replaced(ALLOWED, exceeded="daily")
    steps = (replaced(STEPS[0], after=full),)
    told = "\n".join(forms.lines(replaced(FOUND, steps=steps)))
    assert "allow (small) → over a limit (daily)" in told
    assert "no_room" not in told
