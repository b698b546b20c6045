"""Promises between the file and what steps work with."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contracts import files, guarantees
from gateway.contracts.entry import Entry
from gateway.contracts.pins import pin
from gateway.types.guarantees import (
    OF_RUN,
    CallTemplate,
    Checksum,
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
    Lookup,
    Normal,
    OnVariant,
    Readback,
    Repeat,
    Wait,
    WrittenObject,
)
from gateway.types.json import JsonObject
from gateway.types.operations import RetryClass
from gateway.types.tools import Contract, Effect, Ensure, Risk

DEFINITION: JsonObject = {"name": "pay"}


def entry(**sections: Any) -> Entry:
    return Entry.model_validate(
        {"pin": pin(DEFINITION), "effect": "write", "risk": "low", "definition": DEFINITION}
        | sections
    )


def contract(**fields: Any) -> Contract:
    return Contract(
        tool="desk.pay",
        pin=pin(DEFINITION),
        effect=Effect.WRITE,
        risk=Risk.LOW,
        definition=DEFINITION,
        **fields,
    )


def again(original: Contract) -> Contract:
    (found,) = files.load(files.dump([original]), file="c.yaml")
    return replace(found, place="")


def test_what_nobody_wrote_is_not_declared() -> None:
    assert guarantees.idempotency(entry()) == Idempotency()
    assert not guarantees.idempotency(entry()).is_declared
    assert guarantees.idempotency(entry(idempotency={})) == Idempotency(is_declared=True)
    assert guarantees.compensation(entry()) is None
    assert guarantees.checksum(entry()) is None
    assert guarantees.readback(None) is None
    assert guarantees.call(None) is None
    assert guarantees.written(entry()) is None


def test_every_word_about_repeats_is_read() -> None:
    found = guarantees.idempotency(
        entry(
            idempotency={
                "intent": ["/customer", "/amount"],
                "ignore": ["/note"],
                "from": "/order",
                "normalise": {"/currency": "upper"},
                "window": "10m",
                "on_variant": "replay",
                "repeat": "allow",
                "retry": "keyed",
                "inject": {
                    "header": "Idempotency-Key",
                    "format": "hex",
                    "known_for": "12h",
                },
                "not_executed_on": [429, "rate_limited"],
                "lookup": {
                    "tool": "desk.find",
                    "args": {"ref": "$op.key"},
                    "found": "result.n > 0",
                    "absent_after": "2m",
                },
                "cancel": "safe",
            }
        )
    )
    assert found == Idempotency(
        intent=("/customer", "/amount"),
        ignore=("/note",),
        key_from="/order",
        normalise={"/currency": Normal.UPPER},
        window_s=600.0,
        on_variant=OnVariant.REPLAY,
        repeat=Repeat.ALLOW,
        retry=RetryClass.KEYED,
        inject=Injection(
            place=InjectPlace.HEADER,
            name="Idempotency-Key",
            as_uuid=False,
            known_for_s=43_200.0,
        ),
        not_executed_on=(429, "rate_limited"),
        lookup=Lookup(
            call=CallTemplate(tool="desk.find", args={"ref": "$op.key"}),
            found="result.n > 0",
            absent_after_s=120.0,
        ),
        is_cancel_safe=True,
        is_declared=True,
    )


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ({"arg": "/key"}, Injection(place=InjectPlace.ARGUMENT, name="/key")),
        ({"meta": "x/key"}, Injection(place=InjectPlace.META, name="x/key")),
    ],
)
def test_a_key_for_the_server_has_its_place(section: JsonObject, place: Injection) -> None:
    found = guarantees.idempotency(entry(idempotency={"retry": "keyed", "inject": section}))
    assert found.inject == place


def test_what_is_retryable_is_a_proof_like_the_others() -> None:
    failure = {"retryable": ["busy", 429]}
    assert guarantees.idempotency(entry(failure=failure)) == Idempotency(
        not_executed_on=("busy", 429)
    )
    both = guarantees.idempotency(
        entry(failure=failure, idempotency={"not_executed_on": [429, "locked"]})
    )
    assert both == Idempotency(not_executed_on=(429, "locked", "busy"), is_declared=True)


def test_checks_of_an_outcome_are_read() -> None:
    made = entry(
        outcome={
            "readback": {
                "tool": "desk.get",
                "args": {"id": "$result.id"},
                "expect": "result.ok",
                "wait": {"pending": "result.busy", "not_found_ok_for": "20s", "max": "2m"},
            },
            "old": {"tool": "desk.get", "args": {"id": "$args.id"}},
            "checksum": {"of": "$args.body", "equals": "$result.sum", "alg": "sha512"},
        }
    )
    assert guarantees.readback(made.outcome.readback) == Readback(
        call=CallTemplate(tool="desk.get", args={"id": "$result.id"}),
        expect="result.ok",
        wait=Wait(pending="result.busy", not_found_ok_for_s=20.0, max_s=120.0),
    )
    old = CallTemplate(tool="desk.get", args={"id": "$args.id"})
    assert guarantees.call(made.outcome.old) == old
    assert guarantees.checksum(made) == Checksum(
        of="$args.body", equals="$result.sum", algorithm="sha512"
    )


def test_what_is_written_is_named() -> None:
    made = entry(outcome={"object": {"type": "crm.ticket", "id": "$result.id"}})
    assert guarantees.written(made) == WrittenObject(type="crm.ticket", id="$result.id")


def test_a_way_back_is_read() -> None:
    made = entry(
        compensation={
            "tool": "desk.undo",
            "args": {"id": "$result.id"},
            "capture": ["/id"],
            "deadline": "30d",
            "idempotent": True,
            "verify": {"tool": "desk.get", "expect": "result.gone"},
        }
    )
    assert guarantees.compensation(made) == Compensation(
        kind=CompensationClass.COMPENSATABLE,
        call=CallTemplate(tool="desk.undo", args={"id": "$result.id"}),
        capture=("/id",),
        deadline_s=30 * 86400.0,
        is_idempotent=True,
        verify=Readback(call=CallTemplate(tool="desk.get"), expect="result.gone"),
    )
    none = guarantees.compensation(entry(compensation={"class": "pivot", "reason": "it is gone"}))
    assert none == Compensation(kind=CompensationClass.PIVOT, reason="it is gone")


# --- and back --------------------------------------------------------------------------------

WORDS = st.text("abc $.é\n", min_size=1, max_size=8)
PLACES = st.text("abz_", min_size=1, max_size=5).map("/{}".format)
SECONDS = st.integers(0, 10**8).map(lambda tenths: tenths / 10)
ARGS = st.dictionaries(
    st.text(max_size=4),
    st.integers() | st.booleans() | st.none() | st.sampled_from(["$args.x", "for $op.id", "$$5"]),
    max_size=3,
)
CALLS = st.builds(CallTemplate, tool=st.sampled_from(["desk.get", "desk.a.b"]), args=ARGS)
WAITS = st.builds(
    Wait,
    pending=WORDS | st.just(""),
    not_found_ok_for_s=SECONDS,
    interval_s=st.sampled_from([0.1, 2.0, 5.0]),
    max_s=SECONDS.map(lambda seconds: seconds + 5.0),
)
READBACKS = st.builds(Readback, call=CALLS, expect=WORDS, wait=WAITS)
IDEMPOTENCY = st.builds(
    Idempotency,
    intent=st.none() | st.lists(PLACES, min_size=1, max_size=3).map(tuple),
    ignore=st.lists(PLACES, max_size=2).map(tuple),
    key_from=PLACES | st.just(""),
    normalise=st.dictionaries(PLACES, st.sampled_from(Normal), max_size=2),
    window_s=st.none() | st.just(OF_RUN) | SECONDS,
    on_variant=st.sampled_from(OnVariant),
    repeat=st.sampled_from(Repeat),
    retry=st.sampled_from([RetryClass.NEVER, RetryClass.NATURAL]),
    inject=st.none()
    | st.builds(
        Injection,
        place=st.just(InjectPlace.ARGUMENT),
        name=PLACES,
        as_uuid=st.booleans(),
        known_for_s=SECONDS.map(lambda seconds: seconds + 1.0),
    ),
    not_executed_on=st.lists(st.integers() | WORDS, unique=True, max_size=3).map(tuple),
    lookup=st.none() | st.builds(Lookup, call=CALLS, found=WORDS, absent_after_s=SECONDS),
    is_cancel_safe=st.booleans(),
    is_declared=st.just(True),
)
NO_WAY_BACK = st.builds(
    Compensation,
    kind=st.sampled_from([CompensationClass.IRREVERSIBLE, CompensationClass.PIVOT]),
    reason=WORDS,
)
WAYS_BACK = st.builds(
    Compensation,
    kind=st.sampled_from(sorted(set(CompensationClass) - {CompensationClass.IRREVERSIBLE})),
    call=CALLS,
    reason=WORDS | st.just(""),
    capture=st.lists(PLACES, max_size=2).map(tuple),
    deadline_s=st.none() | SECONDS,
    is_idempotent=st.booleans(),
    verify=st.none() | READBACKS,
)


@given(
    IDEMPOTENCY,
    st.none() | READBACKS,
    st.none() | st.builds(CallTemplate, tool=st.just("desk.get"), args=ARGS),
    st.none() | st.just(Checksum(of="$args.a", equals="$result.b", algorithm="sha384")),
    st.none() | NO_WAY_BACK | WAYS_BACK,
    st.lists(st.builds(Ensure, when=WORDS, message=WORDS), max_size=2).map(tuple),
    st.none() | st.builds(WrittenObject, type=WORDS, id=st.sampled_from(["$args.x", "a $$ b"])),
)
def test_promises_survive_the_file(
    idempotency: Idempotency,
    readback: Readback | None,
    old: CallTemplate | None,
    checksum: Checksum | None,
    compensation: Compensation | None,
    ensure: tuple[Ensure, ...],
    written: WrittenObject | None,
) -> None:
    original = contract(
        idempotency=idempotency,
        readback=readback,
        old=old,
        checksum=checksum,
        compensation=compensation,
        ensure=ensure,
        object=written,
    )
    assert again(original) == original


def test_what_was_only_retryable_is_written_as_that() -> None:
    original = contract(idempotency=Idempotency(not_executed_on=("busy", 429)))
    assert "retryable" in files.dump([original])
    assert again(original) == original


def test_a_section_that_says_nothing_more_is_kept_as_declared() -> None:
    original = contract(idempotency=Idempotency(is_declared=True))
    assert guarantees.idempotency_section(original) == {"retry": "never"}
    assert again(original) == original


def test_sections_that_nobody_wrote_are_not_written() -> None:
    plain = contract()
    assert guarantees.idempotency_section(plain) == {}
    assert guarantees.outcome_section(plain) == {}
    assert guarantees.compensation_section(plain) == {}
    assert guarantees.retryable_section(plain) == []
