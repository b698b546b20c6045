from pathlib import Path

import pytest

from gateway.cli import opening, output
from gateway.errors import StoreUnavailable
from tests.helpers.workspaces import a_workspace


async def test_a_store_is_opened_and_closed(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    with place.store():
        pass
    async with opening.opened(place.config) as store:
        assert await store.events.last_seq() == 0
    with pytest.raises(StoreUnavailable):
        await store.events.last_seq()


def test_a_store_that_is_not_there_ends_a_command_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = a_workspace(tmp_path)

    async def open_it() -> None:
        async with opening.opened(place.config):
            pass

    with pytest.raises(SystemExit) as ended:
        opening.run(open_it)
    assert ended.value.code == output.EXIT_USAGE
    assert "start the gateway once" in capsys.readouterr().err
