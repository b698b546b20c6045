"""A replay as a page orders it."""

import anyio
import pytest

from gateway.admin import replay_work
from gateway.admin.shelves import Shelf
from gateway.replay.history import Span
from gateway.replay.types import Counters
from gateway.revision import Unreviewed
from tests.helpers.recorded import recorded
from tests.helpers.workspaces import Workspace


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return anyio.run(recorded, tmp_path_factory.mktemp("made"))


async def test_an_order_is_carried_out_and_its_report_read_again(made: Workspace) -> None:
    settings = made.loaded().settings
    with made.store() as store:
        candidate = Shelf(store=store, settings=settings).folder()
        order = replay_work.order(
            candidate,
            Span(tenant="acme"),
            Counters.SIMULATED,
            settings=settings,
            otherwise=Unreviewed.REFUSE,
            by="ann",
        )
        told: list[tuple[float, int]] = []

        def tell(share: float, calls: int) -> None:
            told.append((share, calls))

        result = await replay_work.replayed(order, tell)
    report = replay_work.read(result)
    assert report is not None
    assert (report.calls, report.same, report.faithful) == (3, 3, 3)
    assert (report.subject.revision, report.subject.tenant) == (candidate["id"], "acme")
    assert told[-1] == (1.0, 3)
    assert all(0 <= share <= 1 for share, _ in told)


def test_a_report_of_other_code_is_none() -> None:
    assert replay_work.read(b'{"subject":{},"of_another_version":1}') is None


async def test_a_revision_that_is_not_kept_is_none(made: Workspace) -> None:
    with made.store() as store:
        past = replay_work.past(store, Unreviewed.REFUSE)
        assert await past("sha256:gone") is None
        [kept] = await store.revisions.latest()
        found = await past(kept.id)
        assert found is not None
        assert found.id == kept.id
