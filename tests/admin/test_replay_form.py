"""What somebody wants replayed."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import pytest

from gateway.admin.auditors import Sight
from gateway.admin.replay_form import FOLDER, MOST_SCHEMAS, read
from gateway.replay.types import Counters

NOW = datetime(2026, 11, 30, 9, 0, 0, 123_456, tzinfo=UTC)
OWN = Sight(own="acme", tenants=frozenset({"acme"}), is_auditor=True)
TWO = Sight(own="acme", tenants=frozenset({"acme", "globex"}), is_auditor=True)
ALL = Sight(own="acme", tenants=frozenset({"acme"}), is_all=True, is_auditor=True)


def test_an_empty_form_asks_for_the_last_thirty_days_under_the_files_of_now() -> None:
    wish = read({}, OWN, NOW).wish
    assert wish is not None
    assert (wish.revision, wish.tenant, wish.counters) == (FOLDER, "acme", Counters.RECORDED)
    assert wish.since == (NOW - timedelta(days=30)).replace(microsecond=0)
    assert wish.until == datetime(2026, 11, 30, 9, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize("sight", [OWN, TWO, ALL])
def test_the_address_of_a_wish_says_the_same_again_later(sight: Sight) -> None:
    fields = {"revision": "ab" * 32, "counters": "simulated", "since": "24h"}
    wish = read(fields, sight, NOW).wish
    assert wish is not None
    later = read(dict(parse_qsl(wish.query, keep_blank_values=True)), sight, NOW + timedelta(1))
    assert later.wish == wish


@pytest.mark.parametrize(
    ("sight", "asked", "tenant"),
    [
        (OWN, "", "acme"),
        (TWO, "", "acme"),
        (TWO, "globex", "globex"),
        (ALL, "", ""),
        (ALL, "x", "x"),
    ],
)
def test_only_calls_are_replayed_that_somebody_sees(sight: Sight, asked: str, tenant: str) -> None:
    wish = read({"tenant": asked}, sight, NOW).wish
    assert wish is not None
    assert wish.span.tenant == tenant
    assert read({"tenant": "initech"}, OWN, NOW).faults == {"tenant": "is none that you see"}


def test_a_period_that_ends_before_it_begins_is_a_fault() -> None:
    assert read({"since": "1h", "until": "2h"}, OWN, NOW).wish is None
    assert read({"since": "", "until": "2h"}, OWN, NOW).wish is not None
    assert "counters" in read({"counters": "x"}, OWN, NOW).faults


def test_a_run_and_other_definitions_are_part_of_the_wish_and_of_its_address() -> None:
    fields = {"revision": "ab" * 32, "run": "run_1", "schemas": ' {"tools": []} '}
    form = read(fields, OWN, NOW)
    wish = form.wish
    assert wish is not None
    assert (wish.span.run, form.schemas, len(wish.definitions)) == ("run_1", '{"tools": []}', 64)
    assert "tools" not in wish.query
    later = read(dict(parse_qsl(wish.query)), OWN, NOW)
    assert later.wish == wish
    assert later.schemas == ""
    other = read({**fields, "schemas": "[]"}, OWN, NOW).wish
    assert other is not None
    assert other.query != wish.query


@pytest.mark.parametrize(
    ("fields", "name", "fault"),
    [
        ({"run": "run 1"}, "run", "is no id of a run"),
        ({"run": "x" * 200}, "run", "is no id of a run"),
        ({"definitions": "../../x"}, "schemas", "paste them again"),
        ({"schemas": "[" * (MOST_SCHEMAS + 1)}, "schemas", "takes more"),
    ],
)
def test_what_is_no_run_and_what_is_too_large_is_told(
    fields: dict[str, str], name: str, fault: str
) -> None:
    form = read(fields, OWN, NOW)
    assert form.wish is None
    assert fault in form.faults[name]
