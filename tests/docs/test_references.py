"""Nothing that the code has is without its line in the reference, and no line is about nothing."""

import re

from gateway.actions.meanings import KEYS
from gateway.admin.endpoints import ENDPOINTS
from gateway.cli.main import COMMANDS
from scripts import pages_cli, pages_events, pages_keys, pages_rest, references
from tests.docs.pages import DOCS, ROOT

REFERENCE = DOCS / "reference"


def test_every_generated_page_says_what_the_code_says() -> None:
    stale = [
        str(path.relative_to(ROOT))
        for path, text in references.pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, "run scripts/fix"


def test_every_command_has_its_section_and_the_front_page_its_line() -> None:
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    sections = re.findall(r"^#{2,3} `(weighbridge [^`]+)`$", page, re.MULTILINE)
    assert sections == pages_cli.commands()
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Commands")[2]
    assert not [name for name in COMMANDS if f"`weighbridge {name}" not in table]


def test_every_option_and_argument_says_what_it_is_for() -> None:
    assert not [*pages_cli.undescribed()]


def test_every_key_of_contracts_rules_tests_and_templates_says_what_it_means() -> None:
    every = [*pages_keys.every_key()]
    assert len(every) > 150
    assert not [f"{section}.{key}" for section, key, meaning in every if not meaning]
    there = {(section, key) for section, key, _ in every}
    assert not [
        (each, key) for each, keys in KEYS.items() for key in keys if (each, key) not in there
    ]


def test_every_field_of_every_event_says_what_it_means() -> None:
    assert not [*pages_events.undescribed()]
    assert not pages_events.unused()


def test_every_rest_operation_has_its_section_and_every_member_its_meaning() -> None:
    page = (REFERENCE / "rest.md").read_text(encoding="utf-8")
    assert not [each.id for each in ENDPOINTS if f"## `{each.method} {each.path}`" not in page]
    assert not [*pages_rest.undescribed()]
