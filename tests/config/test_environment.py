import os
import subprocess
import sys

import pytest

from gateway.config.environment import child_environment, environ


def test_the_environment_is_a_copy_that_can_not_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIGHBRIDGE_TEST", "before")
    seen = environ()
    monkeypatch.setenv("WEIGHBRIDGE_TEST", "after")
    assert seen["WEIGHBRIDGE_TEST"] == "before"
    with pytest.raises(TypeError):
        seen["X"] = "y"  # pyright: ignore[reportIndexIssue] - that it can't be done is the point


def test_a_child_gets_a_safe_base_and_its_own_values_only() -> None:
    """case: CFG-02"""
    gateway = {
        "GW_DB_URL": "S1",
        "GW_SIGNING_KEY": "S2",
        "AWS_SECRET_ACCESS_KEY": "S3",
        "SSH_AUTH_SOCK": "/run/agent",
        "HTTPS_PROXY": "http://user:password@proxy",
        "PATH": os.environ["PATH"],
        "HOME": "/home/ann",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "BASH_FUNC_x%%": "() { :; }",
        "TERM": "() { :; }; touch marker",
    }
    child = child_environment(gateway, named={"ALPHA_TOKEN": "S4"})
    seen = subprocess.run(
        [sys.executable, "-c", "import os; print(sorted(os.environ))"],
        env=child,
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
    ).stdout
    assert seen.strip() == "['ALPHA_TOKEN', 'HOME', 'LANG', 'LC_ALL', 'PATH']"


def test_more_is_inherited_by_name_and_named_values_win() -> None:
    """case: CFG-02"""
    gateway = {"AWS_PROFILE": "dev", "HOME": "/home/ann", "OTHER": "x"}
    child = child_environment(gateway, named={"HOME": "/srv"}, inherit=["AWS_PROFILE", "NOT_THERE"])
    assert child == {"AWS_PROFILE": "dev", "HOME": "/srv"}
