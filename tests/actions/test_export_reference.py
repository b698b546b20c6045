"""The page of other forms says what the code does."""

from pathlib import Path

import click
import pytest

from gateway.actions import export_reference
from gateway.actions.columns import COLUMNS
from gateway.cli.groups import ask
from gateway.events import cloudevents, ocsf, ocsf_classes, schemas

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "event-exports.md"


def test_the_published_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == export_reference.render()


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_is_on_it(name: str) -> None:
    assert f"| `{name}` | " in export_reference.render()


def test_every_question_is_on_it() -> None:
    assert set(export_reference.ANSWERS) == {*ask.list_commands(click.Context(ask))}


def test_every_member_and_every_action_is_on_it() -> None:
    page = export_reference.render()
    fields = [*ocsf_classes.COMMON, *cloudevents.FIELDS]
    fields += [field for each in ocsf_classes.CLASSES for field in each.fields]
    assert all(f"| `{field.to}` | " in page for field in fields)
    assert all(f"| `admin` `{action}` | " in page for action in ocsf.ACTIONS)


def test_every_kind_is_on_it() -> None:
    page = export_reference.render()
    assert all(f"`{kind}`" in page for kind in schemas.KINDS)
    assert "`None`" not in page
    assert "None" not in page.replace("None of", "")
