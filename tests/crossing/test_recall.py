from dataclasses import replace

import pytest

from gateway.crossing.recall import Forgotten, Recall
from gateway.revision import Unreviewed
from gateway.store.store import Store
from gateway.types.calls import Nobody
from gateway.types.tools import Effect
from tests.helpers.cases import a_principal
from tests.helpers.writes import PUT, Writes, writes


def a_recall(alpha: Writes, *, there: bool = True) -> Recall:
    return Recall(
        vault=alpha.pipeline.claim.vault,
        case_for=alpha.pipeline.resolve.case_for,
        tool=lambda key: PUT if there and key == PUT.key else None,
        clock=alpha.pipeline.record.clock,
    )


@pytest.mark.parametrize("there", [True, False])
async def test_an_operation_is_a_case_again(store: Store, there: bool) -> None:
    alpha = writes(store)
    operation = await alpha.operation(await alpha.call({"v": 7}))
    case = a_recall(alpha, there=there).case(operation)
    assert (case.arguments, case.operation, case.effect) == ({"v": 7}, operation, Effect.WRITE)
    assert case.call.principal == a_principal()
    assert (case.tool.key, case.tool.name) == ("crm.put", "put")
    assert isinstance(case.call.caller, Nobody)


async def test_what_is_no_longer_kept_is_said_to_be_so(store: Store) -> None:
    alpha = writes(store, unreviewed=Unreviewed.REFUSE)
    operation = await alpha.operation(await alpha.call())
    for lost in (
        replace(operation, arguments=""),
        replace(operation, tenant="globex"),
        replace(operation, tool="crm.gone", server="crm"),
    ):
        with pytest.raises(Forgotten):
            a_recall(alpha).case(lost)
