"""Commands and settings that a sentence names in passing are there, like those in blocks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config.reference import every_row
from gateway.config.settings import Settings
from tests.docs import commands, pages
from tests.docs.pages import DOCS, ROOT

# Generated from inputs that are wrong on purpose, and what was once.
OTHERS = {ROOT / "CHANGELOG.md", DOCS / "reference" / "errors.md"}
SETTINGS = {re.sub(r"\[\]|\.<name>", "", row.path) for row in every_row()}
# What looks like a setting and is a key of a template, a name in conditions, a file or a module.
NO_SETTINGS = {
    "events.jsonl",
    "identity.tenant",
    "limits.calls",
    "limits.idle",
    "limits.tokens",
    "limits.wall",
    "runs.machine",
}


def codes(path: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", pages.page(path).prose)


def told() -> list[Path]:
    """Return the pages that say what is; decisions say what was decided then."""
    return [path for path in pages.paths() if path not in OTHERS and path.parent.name != "adr"]


def wrong_commands(code: str) -> Iterator[str]:
    """Yield what is wrong with a command in a sentence, which may leave out what it is about."""
    if not code.startswith("weighbridge ") or "\\|" in code or re.search(r"…| [A-Z]+\b", code):
        return
    for words in commands.calls(code):
        fault = commands.fault(words)
        if fault and "is missing" not in fault and "is a group" not in fault:
            yield f"`{code}`: {fault}"


def wrong_settings(code: str) -> Iterator[str]:
    found = re.fullmatch(r"([a-z_]+)(?:\.[a-z_]+)+", code)
    if found and found[1] in Settings.model_fields and code not in SETTINGS | NO_SETTINGS:
        yield f"no setting `{code}`"


@pytest.mark.parametrize("path", told(), ids=[str(path.relative_to(ROOT)) for path in told()])
def test_what_a_page_names_in_passing_is_there(path: Path) -> None:
    named = codes(path)
    assert not [fault for code in named for fault in wrong_commands(code)]
    assert not [fault for code in named for fault in wrong_settings(code)]


def test_what_is_not_there_is_found() -> None:
    assert [*wrong_commands("weighbridge polcy lint")]
    assert [*wrong_commands("weighbridge policy lint --strickt")]
    assert [*wrong_settings("listen.adress")]
    assert not [*wrong_settings("listen.address")]
