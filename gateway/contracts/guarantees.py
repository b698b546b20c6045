"""The promises of a contract between the file and the values that steps work with, both ways."""

from typing import Final

from gateway.contracts.entry import Entry
from gateway.contracts.promises import (
    CallSection,
    InjectSection,
    LookupSection,
    ReadbackSection,
    WaitSection,
)
from gateway.contracts.sections import as_json, duration_text, said, window_text
from gateway.types.guarantees import (
    CallTemplate,
    Checksum,
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
    Lookup,
    Readback,
    Wait,
    WrittenObject,
)
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract

_NO_WAIT: Final = Wait()

# --- from the file ------------------------------------------------------------------------------


def idempotency(entry: Entry) -> Idempotency:
    """Return what makes calls the same; `failure.retryable` is a part of it."""
    section, retryable = entry.idempotency, entry.failure.retryable
    if section is None:
        return Idempotency(not_executed_on=tuple(retryable))
    proofs = dict.fromkeys([*section.not_executed_on, *retryable])
    return Idempotency(
        intent=None if section.intent is None else tuple(section.intent),
        ignore=tuple(section.ignore),
        key_from=section.from_ or "",
        normalise=section.normalise,
        window_s=section.window,
        on_variant=section.on_variant,
        repeat=section.repeat,
        retry=section.retry,
        inject=_injection(section.inject),
        not_executed_on=tuple(proofs),
        lookup=_lookup(section.lookup),
        is_cancel_safe=section.cancel is not None,
        is_declared=True,
    )


def call(section: CallSection | None) -> CallTemplate | None:
    """Return the call of a section, if there is one."""
    return None if section is None else _call(section)


def readback(section: ReadbackSection | None) -> Readback | None:
    """Return the check of a section, if there is one."""
    if section is None:
        return None
    wait = section.wait or WaitSection()
    return Readback(
        call=_call(section),
        expect=section.expect,
        wait=Wait(
            pending=wait.pending or "",
            not_found_ok_for_s=wait.not_found_ok_for,
            interval_s=wait.interval,
            max_s=wait.max,
        ),
    )


def checksum(entry: Entry) -> Checksum | None:
    """Return the digest to compare, if there is one."""
    section = entry.outcome.checksum
    if section is None:
        return None
    return Checksum(of=section.of, equals=section.equals, algorithm=section.alg)


def written(entry: Entry) -> WrittenObject | None:
    """Return how events name what is written, if somebody said so."""
    section = entry.outcome.object
    return None if section is None else WrittenObject(type=section.type, id=section.id)


def compensation(entry: Entry) -> Compensation | None:
    """Return the way back, or why there is none; None where nobody said anything."""
    section = entry.compensation
    if section is None:
        return None
    return Compensation(
        kind=section.class_ or CompensationClass.COMPENSATABLE,
        call=None
        if section.tool is None
        else CallTemplate(tool=section.tool, args=as_json(section.args)),
        reason=section.reason or "",
        capture=tuple(section.capture),
        deadline_s=section.deadline,
        is_idempotent=section.idempotent,
        verify=readback(section.verify),
    )


def _call(section: CallSection) -> CallTemplate:
    return CallTemplate(tool=section.tool, args=as_json(section.args))


def _injection(section: InjectSection | None) -> Injection | None:
    if section is None:
        return None
    places = {
        InjectPlace.ARGUMENT: section.arg,
        InjectPlace.META: section.meta,
        InjectPlace.HEADER: section.header,
    }
    ((place, name),) = [(place, name) for place, name in places.items() if name is not None]
    return Injection(
        place=place,
        name=name,
        as_uuid=section.format == "uuid5",
        known_for_s=section.known_for,
    )


def _lookup(section: LookupSection | None) -> Lookup | None:
    if section is None:
        return None
    return Lookup(call=_call(section), found=section.found, absent_after_s=section.absent_after)


# --- and back -----------------------------------------------------------------------------------


def retryable_section(contract: Contract) -> Json:
    """Return `failure.retryable`: what proves a failure where nothing else was said of repeats."""
    proofs = contract.idempotency.not_executed_on
    return None if contract.idempotency.is_declared else list[Json](proofs)


def idempotency_section(contract: Contract) -> JsonObject:
    """Return the section `idempotency`, empty where nobody wrote one."""
    known, usual = contract.idempotency, Idempotency()
    if not known.is_declared:
        return {}
    return said(
        **{"from": known.key_from},
        intent=None if known.intent is None else list[Json](known.intent),
        ignore=list[Json](known.ignore),
        normalise={pointer: normal.value for pointer, normal in known.normalise.items()},
        window=None if known.window_s is None else window_text(known.window_s),
        on_variant=None if known.on_variant is usual.on_variant else known.on_variant.value,
        repeat=None if known.repeat is usual.repeat else known.repeat.value,
        retry=known.retry.value,  # also the usual one: a section has to say something
        inject=_inject_section(known.inject),
        not_executed_on=list[Json](known.not_executed_on),
        lookup=_lookup_section(known.lookup),
        cancel="safe" if known.is_cancel_safe else None,
    )


def outcome_section(contract: Contract) -> JsonObject:
    """Return the section `outcome`, empty where nothing is checked or named."""
    sums, made = contract.checksum, contract.object
    return said(
        ensure=[{"when": one.when, "message": one.message} for one in contract.ensure],
        readback=_readback_section(contract.readback),
        old=None if contract.old is None else _call_section(contract.old),
        checksum=None
        if sums is None
        else {"of": sums.of, "equals": sums.equals, "alg": sums.algorithm},
        object=None if made is None else {"type": made.type, "id": made.id},
    )


def compensation_section(contract: Contract) -> JsonObject:
    """Return the section `compensation`, empty where nobody wrote one."""
    known = contract.compensation
    if known is None:
        return {}
    is_usual = known.kind is CompensationClass.COMPENSATABLE and known.call is not None
    return said(
        **{"class": None if is_usual else known.kind.value},
        **({} if known.call is None else _call_section(known.call)),
        reason=known.reason,
        capture=list[Json](known.capture),
        deadline=None if known.deadline_s is None else duration_text(known.deadline_s),
        idempotent=known.is_idempotent,
        verify=_readback_section(known.verify),
    )


def _call_section(template: CallTemplate) -> JsonObject:
    return said(tool=template.tool, args=dict(template.args))


def _inject_section(known: Injection | None) -> Json:
    if known is None:
        return None
    usual_s = Injection(place=known.place, name=known.name).known_for_s
    return said(
        **{known.place.value: known.name},
        format=None if known.as_uuid else "hex",
        known_for=None if known.known_for_s == usual_s else duration_text(known.known_for_s),
    )


def _lookup_section(known: Lookup | None) -> Json:
    if known is None:
        return None
    waits = duration_text(known.absent_after_s)
    return {**_call_section(known.call), "found": known.found, "absent_after": waits}


def _readback_section(known: Readback | None) -> Json:
    if known is None:
        return None
    wait = known.wait
    times = {
        "not_found_ok_for": (wait.not_found_ok_for_s, _NO_WAIT.not_found_ok_for_s),
        "interval": (wait.interval_s, _NO_WAIT.interval_s),
        "max": (wait.max_s, _NO_WAIT.max_s),
    }
    waits = said(
        pending=wait.pending,
        **{
            key: duration_text(said_s)
            for key, (said_s, usual_s) in times.items()
            if said_s != usual_s
        },
    )
    return {**_call_section(known.call), "expect": known.expect, **said(wait=waits)}
