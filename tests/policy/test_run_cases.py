"""Runs that nobody has begun."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from gateway.policy.run_cases import RunUnderTest
from gateway.types.json import Json
from gateway.types.runs import BindingKind, Bound, Mode, Phase, StopReason
from tests.policy.example import SAM

KNOWN = {"refund": (Mode.HOST, ("amount",))}
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def bound(**said: Json) -> Bound:
    return RunUnderTest.model_validate(said).bound(SAM, Phase.ACTING, KNOWN, NOW)


def test_a_run_is_that_of_who_calls() -> None:
    run = bound().run
    assert (run.user, run.tenant, run.roles) == (SAM.user, SAM.tenant, SAM.roles)
    assert (run.phase, run.mode, run.template, run.is_paused) == (
        Phase.ACTING,
        Mode.AUTO,
        "",
        False,
    )
    assert run.active_at == 1_796_029_200_000_000


def test_the_mode_is_that_of_the_template_unless_the_run_has_its_own() -> None:
    assert bound(template="refund").run.mode is Mode.HOST
    assert bound(template="refund", mode="agent").run.mode is Mode.AGENT


def test_what_was_verified_has_succeeded() -> None:
    run = bound(verified=["crm.note", "crm.note"], succeeded=["crm.mail"]).run
    assert run.verified == ("crm.note",)
    assert run.succeeded == ("crm.mail", "crm.note")


def test_a_blocked_run_is_paused() -> None:
    run = bound(stop="blocked").run
    assert run.is_paused
    assert run.stop_reason is StopReason.BLOCKED


def test_how_the_run_was_found_can_be_said() -> None:
    assert bound().kind is BindingKind.META
    assert bound(bound_by="principal").kind is BindingKind.PRINCIPAL


def test_a_run_without_a_template_has_any_fields() -> None:
    said = RunUnderTest.model_validate({"fields": {"anything": 1}})
    assert said.fault(KNOWN) == ""
    assert said.bound(SAM, Phase.ACTING, KNOWN, NOW).run.fields["anything"].value == 1


def test_what_a_model_has_said_is_known_as_that_and_said_once() -> None:
    said = RunUnderTest.model_validate({"fields": {"a": 1}, "said": {"b": 2}})
    fields = said.bound(SAM, Phase.ACTING, KNOWN, NOW).run.fields
    assert {name: (each.value, each.is_known) for name, each in fields.items()} == {
        "a": (1, True),
        "b": (2, False),
    }
    with pytest.raises(ValidationError, match="has `a` in `fields` and in `said`"):
        RunUnderTest.model_validate({"fields": {"a": 1}, "said": {"a": 2}})
