"""What somebody wants replayed."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import pytest

from gateway.admin.auditors import Sight
from gateway.admin.replay_form import FOLDER, read
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
