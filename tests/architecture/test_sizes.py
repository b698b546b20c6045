"""Modules stay small enough to be read in one go."""

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "gateway").rglob("*.py"))


def named(paths: Iterable[Path]) -> str:
    """Return the modules that break a rule: all of them in one message."""
    return ", ".join(str(path.relative_to(ROOT)) for path in paths)


def test_no_module_is_longer_than_400_lines() -> None:
    assert not named(path for path in MODULES if len(path.read_text().splitlines()) > 400)


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "common", "helpers", "manager", "service", "handler"}
    assert not named(path for path in MODULES if path.stem in empty)
