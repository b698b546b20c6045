"""What the flow asks of the store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway import ids
from gateway.app.keeping import Keeping
from gateway.case import Origin
from gateway.crossing.books import SeenValue
from gateway.errors import StoreUnavailable
from gateway.events import runs as events
from gateway.runs.origins import Asked
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.runs import Evidence, Mover, Run
from tests.helpers.cases import NOW, a_revision, an_actor
from tests.helpers.databases import ORIGIN

IDS = (
    SeenValue(type="crm.customer_id", record="r1", value="c-1001"),
    SeenValue(type="crm.email", record="r1", value="sam@example.com"),
)
CUSTOMER = Asked(value="c-1001", types=frozenset({"crm.customer_id"}))


@pytest.fixture
def keeping(tmp_path: Path) -> Iterator[Keeping]:
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN)
    yield Keeping(store=store)
    store.close()


def test_equal_values_have_one_digest_within_a_tenant_and_another_elsewhere(
    keeping: Keeping,
) -> None:
    found = keeping.digest("acme", {"id": "c-1001", "amount": 25})
    assert keeping.digest("acme", {"amount": 25, "id": "c-1001"}) == found
    assert keeping.digest("acme", {"amount": 26, "id": "c-1001"}) != found
    assert keeping.digest("globex", {"id": "c-1001", "amount": 25}) != found
    algorithm, _, digits = found.partition(":")
    assert (algorithm, len(bytes.fromhex(digits))) == ("hmac-sha256", 16)


def test_a_pseudonym_names_nobody_and_stands_for_one_user_of_one_tenant(keeping: Keeping) -> None:
    found = keeping.pseudonym("acme", "sam")
    assert keeping.pseudonym("acme", "sam") == found
    assert found not in {keeping.pseudonym("acme", "ann"), keeping.pseudonym("globex", "sam")}
    assert len(bytes.fromhex(found)) == 16


def test_a_user_whose_name_is_no_unicode_has_a_pseudonym_too(keeping: Keeping) -> None:
    assert len(keeping.pseudonym("acme", "\ud800")) == 32


async def test_a_value_that_was_given_is_found_with_where_it_came_from(keeping: Keeping) -> None:
    sam = an_actor()
    await keeping.remember(sam, "", "crm.find", IDS)
    found = await keeping.find_origins(
        sam,
        "",
        {"/customer_id": CUSTOMER, "/other": Asked(value="c-2002", types=CUSTOMER.types)},
    )
    assert found["/customer_id"] == (Origin(type="crm.customer_id", record="r1", tool="crm.find"),)
    assert not found.get("/other")


@pytest.mark.parametrize("change", [{"user": "ann"}, {"tenant": "globex"}, {"issuer": "other"}])
async def test_what_one_user_was_given_another_was_not(
    keeping: Keeping, change: dict[str, str]
) -> None:
    await keeping.remember(an_actor(), "", "crm.find", IDS)
    found = await keeping.find_origins(an_actor(**change), "", {"/customer_id": CUSTOMER})
    assert not any(found.values())


async def test_what_one_run_was_given_another_was_not(keeping: Keeping) -> None:
    await keeping.remember(an_actor(), "run_1", "crm.find", IDS)
    asked = {"/customer_id": CUSTOMER}
    assert (await keeping.find_origins(an_actor(), "run_1", asked)).keys() == asked.keys()
    assert not await keeping.find_origins(an_actor(), "run_2", asked)
    assert not await keeping.find_origins(an_actor(), "", asked)


async def test_an_id_that_is_one_slip_away_is_found_for_a_few_values(keeping: Keeping) -> None:
    await keeping.remember(an_actor(), "", "crm.find", IDS)
    asked = {f"/{number}": Asked(value="c-1010", types=CUSTOMER.types) for number in range(9)}
    found = await keeping.trace(an_actor(), "", asked, asked.keys())
    assert found.near == {f"/{number}": "c-1001" for number in range(5)}
    assert not (await keeping.trace(an_actor(user="ann"), "", asked, asked.keys())).near


async def test_near_ids_are_looked_for_only_beside_doubted_values_that_were_not_given(
    keeping: Keeping,
) -> None:
    near = SeenValue(type="crm.customer_id", record="r2", value="c-1010")
    await keeping.remember(an_actor(), "", "crm.find", [*IDS, near])
    asked = {
        "/given": CUSTOMER,
        "/slip": Asked(value="c-10001", types=CUSTOMER.types),
        "/other": Asked(value="c-10001", types=CUSTOMER.types),
        "/partner": Asked(value="c-10001"),
    }
    found = await keeping.trace(an_actor(), "", asked, {"/given", "/slip", "/partner"})
    assert found.near == {"/slip": "c-1001"}
    assert found.origins.keys() == {"/given"}


async def test_an_actor_is_tainted_by_what_others_can_write(keeping: Keeping) -> None:
    assert not await keeping.is_tainted(an_actor())
    await keeping.taint(an_actor(), None, "call_1")
    assert await keeping.is_tainted(an_actor())
    assert not await keeping.is_tainted(an_actor(user="ann"))


async def started(keeping: Keeping) -> Run:
    run = Run(run_id="run_1", tenant="acme", owner="o", user="sam", created_at=1)
    now = keeping.clock.now()
    return await keeping.store.runs.start(
        run, [], lambda made: [events.event(None, made, by=Mover.HOST, id=ids.ulid(), at=now)]
    )


async def test_a_run_is_tainted_once_and_tells_by_which_call(keeping: Keeping) -> None:
    run = await started(keeping)
    await keeping.taint(an_actor(), run, "call_1")
    await keeping.taint(an_actor(), run, "call_2")
    await keeping.store.events.kept()
    now = await keeping.store.runs.get("run_1")
    assert now is not None
    assert (now.is_tainted, now.version) == (True, run.version + 1)
    found = await keeping.store.events.query(EventFilter(kind="run", call="call_1"))
    (event,) = (each.json() for each in found)
    assert event["stage"] == "changed"
    assert '"tainted":true' in str(found[0].body)


async def test_what_taints_a_run_taints_its_actor_in_every_other(keeping: Keeping) -> None:
    await keeping.taint(an_actor(), await started(keeping), "call_1")
    assert await keeping.is_tainted(an_actor())
    assert not await keeping.is_tainted(an_actor(user="ann"))


async def test_evidence_is_collected_once_and_values_go_with_the_run(keeping: Keeping) -> None:
    run = await started(keeping)
    read = [Evidence(source="a.md", version="2", call_id="call_1", at=1)]
    await keeping.collect("run_1", read)
    await keeping.collect("run_1", [*read, Evidence(source="b.md", at=2), *read])
    await keeping.collect("run_1", read)
    await keeping.remember(an_actor(), "run_1", "crm.find", IDS)
    now = await keeping.store.runs.get("run_1")
    assert now is not None
    assert now.evidence == 2
    assert await keeping.store.runs.evidence("run_1") == [*read, Evidence(source="b.md", at=2)]
    asked = {"/customer_id": CUSTOMER}
    assert await keeping.find_origins(an_actor(), "run_1", asked)
    await keeping.store.runs.forget(run)
    assert not await keeping.find_origins(an_actor(), "run_1", asked)


async def test_a_revision_is_kept_whole_with_why_it_came(keeping: Keeping) -> None:
    revision = a_revision()
    with pytest.raises(ValueError, match="without a time"):
        await keeping.keep_revision(revision, "start")
    texts = {"policy.yaml": "rules: []\n"}
    kept = type(revision)(
        id="sha256:one",
        contracts={},
        schemas={},
        policy=revision.policy,
        unreviewed=revision.unreviewed,
        activated_at=NOW,
        texts=texts,
    )
    await keeping.keep_revision(kept, "a file changed")
    found = await keeping.store.revisions.get("sha256:one")
    assert found is not None
    assert (found.at, found.activated_by, found.texts) == (NOW, "a file changed", texts)


async def test_evidence_that_could_not_be_kept_is_not_taken_for_kept(keeping: Keeping) -> None:
    await started(keeping)
    keeping.store.close()
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await keeping.collect("run_1", [Evidence(source="a.md", at=1)])
