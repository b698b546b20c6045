"""What calls have to share to be on one track, and what of the first one a track keeps."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.case import Case
from gateway.express import track
from gateway.express.track import Track
from gateway.types.audit import Audit
from gateway.types.calls import Era, Nobody
from gateway.types.guarantees import Idempotency
from gateway.types.runs import Phase
from gateway.types.tools import Ensure, Risk, RiskRaise, Sensitivity
from gateway.types.values import replaced
from tests.helpers.cases import ALLOW_ALL, a_contract, a_revision
from tests.helpers.expressed import PRINCIPAL, RUN, TOOL, Both, Speaker, read

IN_RUN = replaced(RUN, phase=Phase.RETRIEVING)


def test_a_call_is_known_by_its_tool_its_actor_and_how_its_caller_speaks() -> None:
    key = track.key_of(read())
    assert track.key_of(read({"text": "other"}, call_id="call_2", meta={"baggage": "x"})) == key
    others = [
        read(name="crm__other"),
        read(principal=replace(PRINCIPAL, user="ann")),
        read(principal=replace(PRINCIPAL)),  # the same words of another credential
        *(
            read(caller=Speaker(**said))
            for said in ({"era": Era.LEGACY}, {"transport": "stdio"}, {"protocol_version": "2027"})
        ),
    ]
    assert len({key, *map(track.key_of, others)}) == len(others) + 1


async def laid(**setting: Any) -> list[Track]:
    """Return the tracks that a few calls have laid."""
    both = Both(**setting)
    both.both(lambda side: setattr(side.runs, "run", IN_RUN))
    await both.taught(read({"text": "x"}, params={"name": "x"}, meta={"baggage": "x"}))
    express: Any = both.short.pipeline.express
    tracks: list[Track] = [*express._tracks.values()]
    return tracks


async def test_a_track_keeps_no_value_of_the_first_call_and_no_way_to_its_caller() -> None:
    for setting in ({}, {"in_runs": True}):
        (found,) = await laid(**setting)
        case, call = found.case, found.case.call
        assert (call.arguments, call.params, call.meta) == ({}, {}, {})
        assert type(call.caller) is Nobody
        assert (case.arguments, case.run, case.passage) == (None, None, None)
        assert (found.request.arguments, found.request.run) == ({}, None)
        assert case.actor is PRINCIPAL.actor, "its id is nobody else's as long as the track is"


async def test_a_rule_with_a_condition_leaves_a_track_unsettled() -> None:
    (found,) = await laid()
    assert found.decides is None
    (found,) = await laid(policy=ALLOW_ALL.replace("match:", "when: args.text == 'x', match:"))
    assert found.decides is not None


async def test_a_track_says_whether_its_calls_have_runs_and_what_bounds_them() -> None:
    (found,) = await laid()
    assert (found.is_placed, found.deadline_s, found.maximum) == (False, 30, 100_000)
    contract = a_contract(TOOL, timeout_s=2, max_result_bytes=1000)
    (found,) = await laid(in_runs=True, contract=contract)
    assert (found.is_placed, found.deadline_s, found.maximum) == (True, 2, 1000)
    assert found.output is not None


def judged(**changes: Any) -> Case:
    """Return the case of a usual read, as it was judged, but for some changes."""
    both = Both()
    case = both.short.pipeline.resolve.case_for(read(), TOOL)
    assert case is not None
    found = both.short.pipeline.precedents.judged(case).case
    return replaced(found, **changes)


def hears(case: Case) -> bool:
    del case
    return True


def deaf(case: Case) -> bool:
    return not hears(case)


def test_a_plain_read_needs_nothing_else() -> None:
    assert track.is_usual(judged(), hears_logs=hears)
    assert track.is_usual(judged(run=IN_RUN), hears_logs=hears)
    assert track.is_usual(judged(call=read(caller=Speaker(era=Era.LEGACY))), hears_logs=deaf)


@pytest.mark.parametrize(
    "changes",
    [
        {"held": "unsure"},
        {"notes": ("a note",)},
        {"injected": object()},
        {"effect": "write"},
        {"run": replaced(RUN, parent="run_0")},
        {"call": read(caller=Speaker(era=Era.LEGACY))},
        {"contract": a_contract(TOOL, yields=(object(),))},
        {"contract": a_contract(TOOL, audit=Audit(seal=True))},
        {"contract": a_contract(TOOL, ensure=(Ensure(when="true", message="no"),))},
        {"contract": a_contract(TOOL, sensitive_results={"/n": Sensitivity.SECRET})},
        {"contract": a_contract(TOOL, raises=(RiskRaise(when="true", reason="r"),))},
        {"contract": a_contract(TOOL, idempotency=Idempotency(is_cancel_safe=True))},
        {"decision": replace(judged().decision, risk=Risk.HIGH)},
        {"revision": a_revision(policy=ALLOW_ALL.replace("match:", "when: run.tainted, match:"))},
    ],
)
def test_whatever_asks_for_more_is_no_usual_read(changes: dict[str, Any]) -> None:
    assert not track.is_usual(judged(**changes), hears_logs=hears)
