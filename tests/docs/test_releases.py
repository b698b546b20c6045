"""Versions and the changelog, by rule."""

import re
from datetime import date

import pytest

from gateway import __version__
from scripts import release
from tests.helpers.workspaces import weighbridge

HEAD = "# Changelog\n\nAll notable changes.\n\n"


def test_the_changelog_has_its_form_and_the_version_of_the_source() -> None:
    assert release.faults(release.CHANGELOG.read_text(encoding="utf-8"), __version__) == []


def test_the_command_the_source_and_the_package_say_one_version() -> None:
    assert weighbridge("--version").stdout == f"weighbridge, version {__version__}\n"
    project = (release.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in project
    assert 'path = "gateway/__init__.py"' in project
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", __version__)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("## [1.0.0] - 2026-01-01\n", "has to come first"),
        ("## [Unreleased]\n\n## 1.0.0\n", "has to be `## [1.2.3] - 2026-11-30`"),
        ("## [Unreleased]\n\n## [2.0.0] - 2026-01-01\n", "the newest is 2.0.0"),
        (
            "## [Unreleased]\n\n## [1.0.0] - 2026-02-01\n\n## [1.1.0] - 2026-01-01\n",
            "is not older",
        ),
        ("## [Unreleased]\n\n### Fixed\n\n- A.\n\n### Added\n\n- B.\n", "sections come as"),
        ("## [Unreleased]\n\n### News\n\n- A.\n", "sections come as"),
        ("## [Unreleased]\n\n### Added\n\n- without a stop\n", "with its full stop"),
        ("## [Unreleased]\n\n### Added\n\n- One.\n  And more.\n", "one line that begins"),
    ],
)
def test_what_is_out_of_form_is_told(text: str, said: str) -> None:
    (first, *_) = release.faults(HEAD + text, "1.0.0")
    assert said in first


@pytest.mark.parametrize(
    ("change", "version", "least"),
    [
        ("### Fixed\n\n- A.", "1.2.3", "1.2.4"),
        ("### Security\n\n- A.", "1.2.3", "1.2.4"),
        ("### Added\n\n- A.", "1.2.3", "1.3.0"),
        ("### Removed\n\n- A.", "1.2.3", "2.0.0"),
        ("### Fixed\n\n- ⚖ A.", "1.2.3", "2.0.0"),
        ("### Removed\n\n- A.", "0.2.3", "0.3.0"),
        ("", "1.2.3", "1.2.3"),
    ],
)
def test_what_changed_says_how_high_the_next_version_is(
    change: str, version: str, least: str
) -> None:
    text = f"{HEAD}## [Unreleased]\n\n{change}\n\n## [{version}] - 2026-01-01\n"
    assert release.least(text, version) == least


def test_a_first_release_has_the_version_of_the_source() -> None:
    assert release.least(f"{HEAD}## [Unreleased]\n\n### Removed\n\n- A.\n", "0.1.0") == "0.1.0"


def test_a_release_keeps_a_place_for_what_comes_next() -> None:
    text = f"{HEAD}## [Unreleased]\n\n### Added\n\n- A.\n"
    after = release.released(text, "0.1.0", date(2026, 12, 1))
    assert "## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n\n### Added" in after
    assert release.faults(after, "0.1.0") == []
