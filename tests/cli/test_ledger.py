"""What commands about operations open."""

from pathlib import Path

import anyio
import pytest

from gateway.actions.operations import OperationRefused
from gateway.cli.ledger import opened, run
from gateway.errors import StoreUnavailable
from tests.helpers.undoings import contracts
from tests.helpers.workspaces import a_workspace


@pytest.mark.parametrize(
    ("error", "code"), [(OperationRefused("no"), 1), (StoreUnavailable("gone"), 2)]
)
def test_what_is_refused_ends_the_command_with_one_line(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async def work() -> None:
        raise error

    with pytest.raises(SystemExit) as end:
        run(work)
    assert end.value.code == code
    assert capsys.readouterr().err == f"weighbridge: {error}\n"


def test_a_ledger_knows_the_contracts_the_window_and_the_key(tmp_path: Path) -> None:
    place = a_workspace(
        tmp_path, contracts=tuple(contracts().values()), operations={"window": "2h"}
    )
    place.store().__enter__().close()

    async def work() -> None:
        async with opened(place.config) as ledger:
            assert ledger.window_s == 7200.0
            assert set(ledger.contracts()) == {"desk.refund", "desk.cancel"}
            sealed = ledger.vault.seal("acme", "here", b"x")
            assert ledger.vault.open("acme", "here", sealed) == b"x"
            assert "ghp_" not in ledger.redactor.text("ghp_" + "a1B2" * 9)

    anyio.run(work)
