"""What contracts promise, held against the times and servers of the configuration."""

from dataclasses import replace
from typing import Any

from gateway.policy.lint_terms import Terms, check
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
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
