"""The table of `/v1`."""

from gateway.admin.endpoints import ENDPOINTS, ROOT
from gateway.config.admin import RUN_SCOPES


def test_no_two_operations_share_a_name_or_a_place() -> None:
    assert len({each.id for each in ENDPOINTS}) == len(ENDPOINTS)
    assert len({(each.method, each.path) for each in ENDPOINTS}) == len(ENDPOINTS)
    assert all(each.path.startswith(f"{ROOT}/") for each in ENDPOINTS)


def test_every_operation_takes_a_scope_that_a_key_can_have() -> None:
    for each in ENDPOINTS:
        assert each.scopes
        assert set(each.scopes) <= RUN_SCOPES


def test_only_what_changes_nothing_is_read_and_what_changes_a_run_can_be_held_to_a_version() -> (
    None
):
    for each in ENDPOINTS:
        assert (each.method == "GET") == (each.body is None)
        assert each.is_versioned == (412 in each.refuses)
        assert not (each.method == "GET" and each.is_versioned)
