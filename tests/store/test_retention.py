from gateway.store import retention
from gateway.store.store import Store
from tests.helpers.databases import Connect


def test_where_nothing_was_archived_the_log_begins_at_its_beginning(
    store: Store, connect: Connect
) -> None:
    del store
    with connect().reading() as reading:
        assert retention.sealed(reading) is None
