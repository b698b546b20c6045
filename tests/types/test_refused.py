"""Requests that never became calls."""

from gateway.types.refused import TurnedAwayFor


def test_four_reasons_are_about_the_credential_and_all_others_about_what_was_sent() -> None:
    assert {reason.value for reason in TurnedAwayFor if reason.is_about_credential} == {
        "no_credential",
        "invalid_credential",
        "insufficient_scope",
        "keys_unavailable",
    }
