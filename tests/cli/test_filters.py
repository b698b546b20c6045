"""The filters of commands, and what the log says of them."""

from typing import Any, Unpack

import click
import pytest
from click.testing import CliRunner

from gateway.cli import filters
from gateway.cli.filters import Given
from gateway.store.selection import Selection


def given(*words: str) -> tuple[Given, str, str]:
    found = list[tuple[Given, str, str]]()

    @click.command()
    @filters.filter_options
    @filters.time_options
    def command(since: str, until: str, **given: Unpack[Given]) -> None:
        found.append((given, since, until))

    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    return found[0]


FIELDS = {
    "tenant": "tenants",
    "run": "runs",
    "call": "calls",
    "actor": "actors",
    "tool": "tools",
    "status": "statuses",
    "rule": "rules",
    "code": "codes",
    "revision": "revisions",
    "approval": "approvals",
    "action": "actions",
    "trace": "traces",
}


@pytest.mark.parametrize("name", FIELDS)
def test_every_filter_takes_several_values(name: str) -> None:
    found, *_ = given(f"--{name}", "a", f"--{name}", "b")
    wanted: dict[str, Any] = {FIELDS[name]: ("a", "b")}
    assert filters.selection(found) == Selection(**wanted)


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("kind", "kinds", ("admin", "run")),
        ("stage", "stages", ("decided", "started")),
        ("decision", "decisions", ("deny", "allow")),
        ("method", "methods", ("tools/call", "elicitation/create")),
    ],
)
def test_what_has_a_list_takes_several_of_it(
    name: str, field: str, values: tuple[str, str]
) -> None:
    found, *_ = given(*(word for value in values for word in (f"--{name}", value)))
    wanted: dict[str, Any] = {field: values}
    assert filters.selection(found) == Selection(**wanted)


def test_without_filters_everything_is_wanted() -> None:
    found, since, until = given()
    assert filters.selection(found, since, until) == Selection()


def test_the_log_has_what_was_typed() -> None:
    found, since, until = given("--tenant", "acme", "--since", "24h", "--rule", "a", "--rule", "b")
    said = filters.asked(found, since, until)
    assert {name: value for name, value in said.items() if value} == {
        **{"tenant": ["acme"], "rule": ["a", "b"], "since": "24h"}
    }


def test_only_one_named_tenant_is_the_one_whose_events_are_read() -> None:
    assert filters.only(given("--tenant", "acme")[0]) == "acme"
    assert filters.only(given("--tenant", "acme", "--tenant", "globex")[0]) == ""
    assert filters.only(given()[0]) == ""
