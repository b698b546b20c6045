"""The phases and what they allow."""

import pytest

from gateway.runs import machine
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk


def test_every_phase_has_a_row() -> None:
    assert set(machine.ALLOWS) == set(Phase)


@pytest.mark.parametrize("phase", [p for p in Phase if p is not Phase.ACTING])
def test_only_acting_lets_writes_through(phase: Phase) -> None:
    assert not machine.allows(phase, Effect.WRITE, Risk.LOW)
    assert not machine.allows(phase, Effect.DESTRUCTIVE, Risk.CRITICAL)
    assert machine.allows(Phase.ACTING, Effect.WRITE, Risk.HIGH)


@pytest.mark.parametrize("phase", [Phase.COMPLETED, Phase.HANDOFF])
def test_an_ended_run_reads_nothing(phase: Phase) -> None:
    assert not machine.allows(phase, Effect.READ, Risk.LOW)


def test_retrieving_is_read_only() -> None:
    assert machine.allows(Phase.RETRIEVING, Effect.READ, Risk.HIGH)
    assert not machine.allows(Phase.RETRIEVING, Effect.WRITE, Risk.LOW)


def test_a_destructive_call_counts_as_a_high_write_whatever_its_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    careful = machine.Allowance(reads=True, low_writes=True, high_writes=False)
    monkeypatch.setattr(machine, "ALLOWS", {Phase.ACTING: careful})
    assert machine.allows(Phase.ACTING, Effect.WRITE, Risk.MEDIUM)
    assert not machine.allows(Phase.ACTING, Effect.DESTRUCTIVE, Risk.LOW)
