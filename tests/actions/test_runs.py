"""What surfaces tell of runs."""

from decimal import Decimal
from typing import Any

from gateway.actions import runs
from gateway.actions.runs import Gathering, Sight
from gateway.runs.handover import Reach, Receiver
from gateway.runs.templates import Guard, Template
from gateway.store.store import Store
from gateway.types.runs import Evidence, Holder, Phase
from gateway.types.tools import Yield
from tests.helpers.approvals import asked
from tests.helpers.cases import a_contract, a_tool
from tests.helpers.operations import claim, wanted
from tests.helpers.runs import a_field, a_run, begun

NEVER = Guard(text="never", holds=lambda run: False)
TEMPLATE = Template(name="t", enter_when={Phase.ACTING: (NEVER,)}, completed_when=(NEVER,))


def test_what_is_missing_is_told_for_the_phases_that_come_next() -> None:
    at = a_run(phase=Phase.RETRIEVING)
    assert runs.missing(at, TEMPLATE) == {"acting": ["never"], "completed": ["never"]}
    assert runs.missing(a_run(phase=Phase.ACTING), TEMPLATE) == {"completed": ["never"]}
    assert runs.missing(a_run(phase=Phase.FAILED), TEMPLATE) == {}
    assert runs.missing(at, None) == {}


def test_a_number_that_no_float_carries_leaves_as_a_text() -> None:
    exact: Any = {"a": [Decimal("0.10000000000000000001"), 10**30, True, None]}
    told = runs.brief(a_run(fields={"f": a_field(exact)}), runs.ALL)
    assert told.fields["f"].value == {"a": ["0.10000000000000000001", 10**30, True, None]}
    assert told.ends_at is told.finished_at is None


def test_a_hand_over_names_whom_it_is_for() -> None:
    assert runs.handed("stuck", "tier 2") == "for tier 2: stuck"
    assert runs.handed("stuck", "") == "stuck"


def test_contracts_say_what_values_take_to_be_seen() -> None:
    yields = (Yield(type="crm.id", path="/id"),)
    contracts = {
        f"{name}.find": a_contract(a_tool(server=name), yields=yields, scopes=frozenset({name}))
        for name in ("crm", "erp")
    }
    reach = runs.reach(contracts)
    assert reach.types == {"crm.id": [{"crm"}, {"erp"}]}
    assert reach.tools == {"crm.find": {"crm"}, "erp.find": {"erp"}}


def test_a_run_shows_nobody_more_than_its_package_does() -> None:
    run = a_run(fields={"card": a_field("4111", source="crm.id"), "said": a_field("no")})
    reach = Reach(tools={}, types={"crm.id": [frozenset({"crm:read"})]})
    for scopes, card in ((frozenset[str](), None), (frozenset({"crm:read"}), "4111")):
        sight = Sight(receiver=Receiver(scopes=scopes), reach=reach)
        for told in (runs.brief(run, sight), runs.state(run, None, sight)):
            shown = {name: each.value for name, each in told.fields.items()}
            assert shown == {"card": card, "said": "no"}
            assert told.fields["card"].is_withheld is (card is None)


async def test_what_there_is_of_a_run_is_gathered_and_nothing_of_others(store: Store) -> None:
    run, other = await begun(store), await begun(store)
    mine = await claim(store, wanted(run_id=run.run_id, key="k1"))
    await claim(store, wanted(run_id=other.run_id, key="k2", scope="s2"))
    await claim(store, wanted(key="k3", scope="s3"))
    request = await asked(store, run_id=run.run_id)
    await asked(store)
    await store.runs.add_evidence(run.run_id, [Evidence(source="kb://1")])
    gathering = Gathering(runs=store.runs, operations=store.operations, approvals=store.approvals)
    found = await gathering.remains(run, None)
    assert [each.op_id for each in found.operations] == [mine.operation.op_id]
    assert [each.approval_id for each in found.approvals] == [request.approval_id]
    assert [each.source for each in found.evidence] == ["kb://1"]
    package = await gathering.package(run, None, Receiver(), {})
    told = runs.packaged(package, page="https://approvals.example.com")
    assert told.approvals[0].url.endswith(f"/approvals/{request.approval_id}")
    assert runs.packaged(package).approvals[0].url == ""


def test_a_run_says_which_one_around_it_holds_it() -> None:
    holder = Holder(run_id="run_1", is_over=False)
    assert runs.state(a_run(held_by=holder), None, runs.ALL).held_by == "run_1"
    assert runs.state(a_run(), None, runs.ALL).held_by == ""
