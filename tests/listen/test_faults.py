"""Faults of ours, as the log shows them."""

import pytest

from gateway.listen.faults import log_fault


def test_a_fault_is_logged_by_type_and_place_and_never_by_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = "what a caller sent"
    try:
        raise RuntimeError(secret)
    except RuntimeError as error:
        log_fault("a request", error)
    assert "a request failed with RuntimeError" in caplog.text
    assert "test_faults.py" in caplog.text
    assert secret not in caplog.text
