import pytest

from gateway.config.environment import environ


def test_the_environment_is_a_copy_that_can_not_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_TEST", "before")
    seen = environ()
    monkeypatch.setenv("WEIGHBRIDGE_TEST", "after")
    assert seen["WEIGHBRIDGE_TEST"] == "before"
    with pytest.raises(TypeError):
        seen["X"] = "y"  # pyright: ignore[reportIndexIssue] - that it can't be done is the point
