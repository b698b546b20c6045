"""Whether a compensation did what it was for."""

from dataclasses import replace
from typing import Any

import pytest

from gateway import jsontext
from gateway.app.confirming import Confirming
from gateway.case import Case
from gateway.crossing.reads import NotRead
from gateway.crossing.remains import Remains
from gateway.crossing.waiting import Waiter
from gateway.errors import WeighbridgeError
from gateway.results import kept
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.guarantees import CallTemplate, Readback, Wait
from gateway.types.json import Json
from gateway.types.operations import Operation, VerificationState
from gateway.types.outcomes import Answer
from tests.helpers.cases import a_case, a_tool
from tests.helpers.issuer import NOW, HandClock
from tests.helpers.operations import wanted
from tests.helpers.reads import BUSY, Scripted
from tests.helpers.undoings import BACK, a_write

VAULT = Vault(lambda tenant: b"k" * 32)
CHECK = Readback(
    call=CallTemplate(tool="desk.get", args={"id": "$result.refund_id"}),
    expect="result.status == 'cancelled' && answer.refund_id == 'r1'",
    wait=Wait(max_s=60),
)
ANSWER = Answer(result={"content": [], "structuredContent": {"refund_id": "r1"}})
REFUND = wanted(
    op_id="op_1",
    arguments=VAULT.seal("acme", "k1", b'{"arguments": {}, "principal": {}}'),
    outcome=VAULT.seal("acme", "op_1", jsontext.dump(kept.to_json(ANSWER))),
)
DONE = wanted(compensates="op_1", settled_at=microseconds(NOW))


async def confirmed(
    answer: Json | NotRead, age_s: float = 0, check: Readback | None = CHECK, **changes: Any
) -> tuple[VerificationState, Scripted]:
    back = replace(BACK, verify=check)
    clock, reads = HandClock(), Scripted([answer])
    clock.move(age_s)

    def case(operation: Operation) -> Case:
        assert operation.op_id == "op_1"
        return a_case(contract=a_write("refund", compensation=back), tool=a_tool(server="desk"))

    confirming = Confirming(
        case=changes.get("case", case),
        remains=Remains(vault=VAULT),
        waiter=Waiter(reads=reads, look_s=1),
        clock=clock,
    )
    said = await confirming.confirm(changes.get("original", REFUND), DONE)
    return said.state, reads


@pytest.mark.parametrize(
    ("status", "state"),
    [("cancelled", VerificationState.VERIFIED), ("paid", VerificationState.FAILED)],
)
async def test_a_read_shows_whether_it_was_undone(status: str, state: VerificationState) -> None:
    said, reads = await confirmed({"status": status})
    assert said is state
    assert reads.asked == [("desk.get", {"id": "r1"})]


@pytest.mark.parametrize(
    ("age_s", "state"),
    [(30, VerificationState.PENDING), (90, VerificationState.INCONCLUSIVE)],
)
async def test_the_time_counts_from_when_it_was_undone(
    age_s: float, state: VerificationState
) -> None:
    assert (await confirmed(BUSY, age_s))[0] is state


async def test_without_a_check_nothing_is_read() -> None:
    said, reads = await confirmed({}, check=None)
    assert (said, reads.asked) == (VerificationState.NOT_DECLARED, [])


async def test_what_can_t_be_read_any_more_proves_nothing() -> None:
    def gone(operation: Operation) -> Case:
        raise WeighbridgeError(f"there is no contract for `{operation.tool}` any more")

    assert (await confirmed({}, case=gone))[0] is VerificationState.INCONCLUSIVE
    lost = replace(REFUND, arguments="")
    assert (await confirmed({}, original=lost))[0] is VerificationState.INCONCLUSIVE
