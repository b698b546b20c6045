"""What is looked for among runs."""

from gateway.store.run_filters import RunFilter, conditions
from tests.helpers.cases import NOW


def test_a_filter_that_names_nothing_has_no_condition() -> None:
    assert conditions(RunFilter()) == ("", {"limit": 100})


def test_every_name_is_one_more_condition_and_a_parameter() -> None:
    where, parameters = conditions(RunFilter(tenant="acme", is_open=True, since=NOW, limit=5))
    assert where == (
        "WHERE tenant = :tenant AND finished_at = 0 AND is_paused = 0 AND created_at >= :since"
    )
    assert parameters.keys() == {"tenant", "since", "limit"}
