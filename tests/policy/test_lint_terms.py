"""What contracts promise, held against the times and servers of the configuration."""

from dataclasses import replace
from typing import Any

from gateway.policy.lint_terms import Terms, check
from gateway.types.audit import Audit
from gateway.types.guarantees import (
    OF_RUN,
    CallTemplate,
    Idempotency,
    Injection,
    InjectPlace,
    Lookup,
)
from gateway.types.tools import Effect
from tests.policy.example import TEXT, contract

DAY = 86400.0
TERMS = Terms(keep_s=90 * DAY, late_window_s=600, timeout_s=60)


def found(idempotency: Idempotency, *, terms: Terms = TERMS, **changes: Any) -> list[str]:
    write = replace(
        contract("crm.put", {"q": TEXT}, effect=Effect.WRITE), idempotency=idempotency, **changes
    )
    return [f"{each.level} {each.check}: {each.message}" for each in check([write], terms)]


def test_a_window_beyond_what_is_kept_is_told() -> None:
    assert found(Idempotency(window_s=90 * DAY)) == []
    assert found(Idempotency(window_s=OF_RUN)) == []
    assert found(Idempotency(window_s=365 * DAY)) == [
        "warning kept-longer: `idempotency.window` of `crm.put` is longer than `operations.keep`; "
        "its operations are kept for 365 days instead of 90 days"
    ]


def test_a_header_for_a_server_without_headers_is_an_error() -> None:
    header = Idempotency(inject=Injection(place=InjectPlace.HEADER, name="Idempotency-Key"))
    meta = Idempotency(inject=Injection(place=InjectPlace.META, name="key"))
    over_stdio = replace(TERMS, over_stdio=frozenset({"crm"}))
    assert found(header) == found(meta, terms=over_stdio) == []
    [told] = found(header, terms=over_stdio)
    assert told.startswith("error unplaced-key: `idempotency.inject` of `crm.put` is a header")


def test_sealing_without_a_place_for_its_key_is_an_error() -> None:
    seals, keyless = Audit(seal=True), replace(TERMS, can_seal=False)
    assert found(Idempotency(), audit=seals) == found(Idempotency(), terms=keyless) == []
    [told] = found(Idempotency(), audit=seals, terms=keyless)
    assert told.startswith("error seal-without-key: `audit.seal` of `crm.put` needs a key")


def test_absence_before_a_request_can_be_over_is_told() -> None:
    def after(seconds: float) -> Idempotency:
        call = CallTemplate(tool="crm.find")
        return Idempotency(lookup=Lookup(call=call, found="true", absent_after_s=seconds))

    assert found(after(660)) == []
    [soon] = found(after(60))
    assert soon.startswith("info absent-early: ")
    assert "60 s, less than the 660 s that an answer is taken" in soon
    [early] = found(after(59))
    assert early.startswith("warning absent-early: ")
    assert "59 s, less than the 60 s that a call may take" in early
    slow = replace(TERMS, timeouts_s={"crm": 1000})
    assert found(after(999), terms=slow)[0].startswith("warning")
    assert found(after(60), timeout_s=5.0, terms=replace(TERMS, late_window_s=30)) == []
