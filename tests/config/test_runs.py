"""The section `runs` of the configuration."""

import pytest
from pydantic import ValidationError

from gateway.config.runs import RunsSettings
from gateway.runs.binding import CONVERSATIONS, SESSIONS
from gateway.types.runs import Phase


def test_without_a_word_runs_are_where_templates_are_and_none_begins_by_itself() -> None:
    settings = RunsSettings()
    assert settings.enabled is None
    assert settings.implicit is False
    assert settings.default_phase is Phase.ACTING
    assert (settings.header, settings.idle, settings.reads_while_paused) == ("X-Run-Id", 1800, True)
    assert settings.correlate.conversations == CONVERSATIONS
    assert settings.correlate.sessions == SESSIONS


def test_the_keys_of_hosts_can_be_other_ones() -> None:
    settings = RunsSettings.model_validate(
        {"correlate": {"conversations": ["acme/chat"], "sessions": []}, "idle": "0s"}
    )
    assert settings.correlate.conversations == ("acme/chat",)
    assert (settings.correlate.sessions, settings.idle) == ((), 0)


@pytest.mark.parametrize(
    "name", ["", "X Run", "X-Rün", "authorization", "Mcp-Session-Id", "idempotency-key", "a:b"]
)
def test_a_header_that_means_something_else_names_no_run(name: str) -> None:
    with pytest.raises(ValidationError, match="is not a header of its own"):
        RunsSettings.model_validate({"header": name})
