from gateway.replay.takes import Take
from gateway.replay.tape import Miss, Tape, Wanted, differing
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.values import replaced
from tests.helpers.tapes import a_take, digest_of

RUN = "run_1"


def wanted(arguments: JsonObject | None = None, **changes: str) -> Wanted:
    sent: JsonObject = {"id": "i-1"} if arguments is None else arguments
    made = Wanted(
        method=Method.CALL_TOOL,
        key="crm.find",
        name="crm__find",
        digest=digest_of(sent),
        arguments=sent,
    )
    return replaced(made, **changes)


def played(tape: Tape, asked: Wanted) -> str:
    take = tape.play(asked)
    assert isinstance(take, Take), take
    return take.call


def missed(tape: Tape, asked: Wanted) -> Miss:
    miss = tape.play(asked)
    assert isinstance(miss, Miss), miss
    return miss


def test_the_same_call_is_answered_in_the_order_of_the_record() -> None:
    tape = Tape(RUN, [a_take("call_1", 1), a_take("call_2", 2)])
    assert [played(tape, wanted()), played(tape, wanted())] == ["call_1", "call_2"]


def test_a_call_that_was_played_as_often_as_it_was_made_is_missed() -> None:
    tape = Tape(RUN, [a_take("call_1", 1)])
    played(tape, wanted())
    miss = missed(tape, wanted())
    assert miss.code == "played_already"
    assert miss.reason == "run_1 has this call of `crm__find` once, and that was played"
    assert [each.call for each in miss.near] == ["call_1"]


def test_other_arguments_are_missed_and_the_nearest_call_is_named_with_where_it_differs() -> None:
    far = a_take("call_1", 1, {"id": "i-2", "amount": 7})
    tape = Tape(RUN, [far, a_take("call_2", 2, {"id": "i-2"})])
    miss = missed(tape, wanted())
    assert miss.code == "not_recorded"
    assert miss.reason.endswith("call_2 is the nearest, and differs at `/id`")
    assert [(each.call, each.differs) for each in miss.near] == [
        ("call_2", ("/id",)),
        ("call_1", ("/amount", "/id")),
    ]


def test_a_tool_that_was_not_called_is_missed_and_those_that_were_are_named() -> None:
    tape = Tape(RUN, [a_take("call_1", 1)])
    miss = missed(tape, wanted(key="crm.fond", name="crm__fond"))
    assert miss.reason == "run_1 has no call of `crm__fond`; it has calls of `crm__find`"


def test_a_run_without_calls_of_a_method_says_only_that() -> None:
    asked = replaced(wanted(), method=Method.READ_RESOURCE, name="mem://a", key="mem://a")
    assert (
        missed(Tape(RUN, [a_take("call_1", 1)]), asked).reason == "run_1 has no call of `mem://a`"
    )


def test_a_call_without_an_answer_is_missed_with_the_reason_and_takes_its_turn() -> None:
    tape = Tape(RUN, [a_take("call_1", 1, outcome=None, lack="too large"), a_take("call_2", 2)])
    miss = missed(tape, wanted())
    assert (miss.code, miss.reason) == (
        "result_not_kept",
        "call_1 of `crm__find` is in run_1, but too large",
    )
    assert played(tape, wanted()) == "call_2"


def test_what_the_log_does_not_hold_differs_from_nothing() -> None:
    take = a_take("call_1", 1, {"id": "i-1", "note": "hush"})
    assert differing({"id": "i-1", "note": "other"}, take) == ()
    assert differing({"id": "i-2", "note": "other"}, take) == ("/id",)


def test_true_is_not_one_and_an_empty_list_is_not_an_empty_object() -> None:
    take = a_take("call_1", 1, {"amount": 1, "tags": []})
    assert differing({"amount": True, "tags": {}}, take) == ("/amount", "/tags")


def test_a_miss_never_tells_a_value() -> None:
    tape = Tape(RUN, [a_take("call_1", 1, {"id": "somebody"})])
    assert "somebody" not in missed(tape, wanted({"id": "else"})).reason


def test_the_summary_has_what_was_played_missed_and_never_asked_for() -> None:
    other = a_take("call_3", 3, {"id": "i-3"})
    tape = Tape(RUN, [a_take("call_1", 1), a_take("call_2", 2), other])
    played(tape, wanted())
    missed(tape, wanted({"id": "i-9"}))
    summary = tape.summary()
    assert (summary["run"], summary["recorded"]) == (RUN, 3)
    assert [each.call for each in tape.unasked] == ["call_2", "call_3"]
    assert summary["played"] == [
        {
            "call": "call_1",
            "method": "tools/call",
            "name": "crm__find",
            "at": "2026-11-30T09:00:00Z",
        }
    ]
    assert str(summary["missed"]).count("not_recorded") == 1


def test_a_host_that_tries_for_ever_fills_no_memory() -> None:
    tape = Tape(RUN, [a_take("call_1", 1)])
    for number in range(1_200):
        missed(tape, wanted({"id": f"i-{number + 5}"}))
    assert (tape.misses, len(tape.missed)) == (1_200, 1_000)
    assert tape.summary()["misses"] == 1_200


def test_a_miss_is_kept_without_arguments_and_with_the_beginning_of_long_names() -> None:
    tape = Tape(RUN, [a_take("call_1", 1)])
    long: JsonObject = {f"{'x' * 5_000}{number}": "y" * 5_000 for number in range(100)}
    told = missed(tape, wanted(long, name="z" * 5_000, digest="d"))
    assert told.wanted.arguments == long
    (kept,) = tape.missed
    assert kept.wanted.arguments == {}
    assert len(str(kept)) < 30_000
