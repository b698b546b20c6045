"""What people agree on is in force, whatever the folder of a gateway says."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.actions import revisions
from gateway.actions.activation import Activation, Reloaded
from gateway.actions.agreement import FIRST, Agreement
from gateway.approvals import agreeing
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.revision import Revision, Unreviewed
from gateway.store.revisions import StoredRevision
from gateway.types.approvals import Approver
from gateway.types.proposals import Backing, Proposal, ProposalState
from gateway.types.values import replaced
from tests.helpers.cases import NOW
from tests.helpers.proposals import a_say, somebody

OPEN = "rules:\n  - {id: all, decision: allow, match: {tools: ['*'], roles: {any: [a]}}}\n"
SHUT = "rules:\n  - {id: none, decision: deny, match: {tools: ['*']}}\n"


def digest_of(texts: Mapping[str, str]) -> str:
    return revisions.revision_id(revisions.folder_of(texts), Unreviewed.REFUSE)


class Table:
    """Proposals in memory, which may be away."""

    def __init__(self) -> None:
        self.rows: list[Proposal] = []
        self.said: dict[str, list[Backing]] = {}
        self.kept: list[tuple[Revision, str]] = []
        self.told: list[Reloaded] = []
        self.newest: StoredRevision | None = None
        self.away = False

    def _look(self) -> None:
        if self.away:
            raise StoreUnavailable("no route")

    async def agreed(self) -> Proposal | None:
        self._look()
        return next((e for e in reversed(self.rows) if e.state is ProposalState.AGREED), None)

    async def open(self) -> list[Proposal]:
        self._look()
        return [each for each in self.rows if each.state is ProposalState.OPEN]

    async def beginning(self, with_: str) -> list[Proposal]:
        self._look()
        return [each for each in reversed(self.rows) if each.revision.startswith(with_)]

    async def backings(self, id: str) -> tuple[Backing, ...]:
        self._look()
        return tuple(self.said.get(id, ()))

    async def propose(self, proposal: Proposal, who: Approver | None = None) -> bool:
        self._look()
        if any(each.revision == proposal.revision for each in await self.open()):
            return False
        self.rows.append(proposal)
        return True

    async def adopt(self, proposal: Proposal) -> None:
        self._look()
        self.rows.append(replaced(proposal, state=ProposalState.AGREED))

    def settle(self, state: ProposalState, *users: str) -> None:
        """End what waits, in the name of some people."""
        (waiting,) = [each for each in self.rows if each.state is ProposalState.OPEN]
        self.rows.remove(waiting)
        self.rows.append(replaced(waiting, state=state))
        self.said[waiting.id] = [Backing(person=somebody(each), at=NOW) for each in users]

    async def keep(self, revision: Revision, because: str) -> None:
        self._look()
        self.kept.append((revision, because))

    def tell(self, outcome: Reloaded, because: str) -> None:
        del because
        self.told.append(outcome)

    async def last(self) -> StoredRevision | None:
        return self.newest


def an_activation(folder: Path, table: Table) -> Activation:
    return Activation(
        folder=folder,
        unreviewed=Unreviewed.REFUSE,
        clock=SystemClock(),
        keep=table.keep,
        tell=table.tell,
        agreement=Agreement(
            proposals=table,
            newest=table.last,
            people=2,
            say=a_say(),
            clock=SystemClock(),
        ),
    )


async def started(folder: Path, table: Table, policy: str = OPEN) -> Activation:
    (folder / "policy.yaml").write_text(policy)
    activation = an_activation(folder, table)
    await activation.start()
    return activation


async def proposed(folder: Path, table: Table) -> tuple[Activation, str]:
    """Start, change the folder, and return the revision that was in force."""
    activation = await started(folder, table)
    before = activation.current().id
    (folder / "policy.yaml").write_text(SHUT)
    outcome = await activation.reload("a file changed")
    assert not outcome.activated
    return activation, before


async def test_the_first_start_takes_the_folder_as_it_is_and_says_so(tmp_path: Path) -> None:
    table = Table()
    activation = await started(tmp_path, table)
    assert table.kept[0][1] == FIRST
    agreed = await table.agreed()
    assert agreed is not None
    assert (agreed.revision, agreed.because) == (activation.current().id, FIRST)
    assert activation.problem == ""


async def test_a_changed_folder_is_proposed_and_not_in_force(tmp_path: Path) -> None:
    table = Table()
    activation, before = await proposed(tmp_path, table)
    assert activation.current().id == before
    assert "waits for people to agree" in activation.problem
    (waiting,) = await table.open()
    assert (waiting.base, waiting.people, waiting.texts) == (before, 2, {"policy.yaml": SHUT})
    assert [each["lacks"] for each in activation.proposed] == [2]
    assert agreeing.lacks(waiting, (), a_say()) == 2


async def test_what_people_agreed_on_is_put_in_force_by_a_look(tmp_path: Path) -> None:
    table = Table()
    activation, before = await proposed(tmp_path, table)
    await activation.follow()
    assert activation.current().id == before
    table.settle(ProposalState.AGREED, "ann", "bo")
    await activation.follow()
    assert activation.current().texts == {"policy.yaml": SHUT}
    assert table.told[-1].previous == before
    assert table.kept[-2][1] == "agreed by ann, bo"
    assert (activation.problem, activation.proposed) == ("", [])


async def test_what_was_turned_down_is_not_proposed_again_by_itself(tmp_path: Path) -> None:
    table = Table()
    activation, before = await proposed(tmp_path, table)
    table.settle(ProposalState.REJECTED)
    await activation.reload("told to")
    assert "people have turned revision" in activation.problem
    assert await table.open() == []
    again = await started(tmp_path, table, SHUT)
    assert again.current().id == before
    assert "people have turned revision" in again.problem


async def test_a_folder_that_is_out_of_date_wants_nothing_back(tmp_path: Path) -> None:
    table = Table()
    activation, _ = await proposed(tmp_path, table)
    table.settle(ProposalState.AGREED, "ann", "bo")
    (tmp_path / "policy.yaml").write_text(OPEN)  # as another gateway still has it
    await activation.follow()
    assert activation.current().texts == {"policy.yaml": SHUT}
    assert "was replaced by the one in force" in activation.problem
    assert await table.open() == []


async def test_a_start_goes_by_what_was_agreed_on_even_with_a_folder_that_is_broken(
    tmp_path: Path,
) -> None:
    table = Table()
    before = (await started(tmp_path, table)).current().id
    again = await started(tmp_path, table, "rulez: []\n")
    assert again.current().id == before
    assert "rulez" in again.problem


async def test_where_the_rule_is_new_what_was_in_force_counts_as_agreed_on(tmp_path: Path) -> None:
    table = Table()
    before = (await started(tmp_path, Table())).current()
    table.newest = StoredRevision(
        id=before.id, at=NOW, activated_by="a file changed", texts=dict(before.texts)
    )
    again = await started(tmp_path, table, SHUT)
    assert again.current().id == before.id
    assert len(await table.open()) == 1


async def test_a_restart_and_a_switch_say_how_many_tests_pass(tmp_path: Path) -> None:
    table, shipped = Table(), Path(__file__).parents[2] / "policies"
    shutil.copytree(shipped, tmp_path, dirs_exist_ok=True)
    await an_activation(tmp_path, table).start()
    activation = an_activation(tmp_path, table)
    await activation.start()
    said = [because for _, because in table.kept if because != "start"]
    assert said == [FIRST, "start (what was in force before)"]
    many = [each.tests for each in table.told]
    assert len(many) == 2
    assert many[0] == many[1] > 0
    desk = tmp_path / "desk.yaml"
    desk.write_text(desk.read_text() + "# changed\n")
    await activation.reload("a file changed")
    table.settle(ProposalState.AGREED, "ann", "bo")
    await activation.follow()
    assert table.told[-1].tests == many[0]
    change = table.told[-1].change
    assert change is not None
    assert change["wider"] == change["narrower"] == 0


async def test_a_gateway_does_not_start_by_what_it_can_not_read(tmp_path: Path) -> None:
    table = Table()
    broken = {"policy.yaml": "rulez: []\n"}
    table.newest = StoredRevision(id=digest_of(broken), at=NOW, activated_by="start", texts=broken)
    with pytest.raises(ConfigurationError, match="which people agreed on, can't be read"):
        await started(tmp_path, table)
    table.away = True
    with pytest.raises(ConfigurationError, match="what people agreed on can't be read: no route"):
        await started(tmp_path, table)


async def test_a_running_gateway_stays_where_it_is_when_it_can_not_read_the_next(
    tmp_path: Path,
) -> None:
    table = Table()
    activation, before = await proposed(tmp_path, table)
    (waiting,) = await table.open()
    table.rows.remove(waiting)
    broken = {"policy.yaml": "rulez: []\n"}
    table.rows.append(
        replaced(waiting, state=ProposalState.AGREED, texts=broken, revision=digest_of(broken))
    )
    await activation.follow()
    assert activation.current().id == before
    assert "can't be read" in activation.problem


async def test_what_the_store_has_under_an_agreed_digest_takes_force_only_if_it_has_that_digest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = Table()
    activation, before = await proposed(tmp_path, table)
    table.settle(ProposalState.AGREED, "ann", "bo")
    agreed = table.rows.pop()
    for texts in ({"policy.yaml": OPEN + "# wider\n"}, {"elsewhere/policy.yaml": SHUT}, {}):
        table.rows.append(replaced(agreed, texts=texts))
        for _ in range(3):
            await activation.follow()
        assert activation.current().id == before
        assert "is not what the store has under its name" in activation.problem
        table.rows.pop()
    assert [each.problem for each in table.told].count(activation.problem) == 1
    assert caplog.text.count("what people agreed on is not put in force") == 1
    table.rows.append(replaced(agreed, texts={"policy.yaml": OPEN + "# wider\n"}))
    with pytest.raises(ConfigurationError, match="is not what the store has under its name"):
        await an_activation(tmp_path, table).start()
    table.rows[-1] = agreed
    await activation.follow()
    assert activation.current().id == agreed.revision
    assert activation.problem == ""


async def test_what_waits_lacks_those_who_may_not_agree_any_more(tmp_path: Path) -> None:
    table = Table()
    activation, _ = await proposed(tmp_path, table)
    (waiting,) = await table.open()
    table.said[waiting.id] = [Backing(person=somebody(each), at=NOW) for each in ("ann", "zoe")]
    await activation.follow()
    assert [each["lacks"] for each in activation.proposed] == [1]  # zoe has no account


async def test_a_store_that_is_away_leaves_all_as_it_is(tmp_path: Path) -> None:
    table = Table()
    activation = await started(tmp_path, table)
    before = activation.current().id
    table.away = True
    (tmp_path / "policy.yaml").write_text(SHUT)
    outcome = await activation.reload("a file changed")
    assert "the change could not be proposed: no route" in outcome.problem
    assert activation.current().id == before
    with pytest.raises(StoreUnavailable):
        await activation.follow()


async def test_without_an_agreement_there_is_nothing_to_follow(tmp_path: Path) -> None:
    activation = await started(tmp_path, Table())
    activation.agreement = None
    await activation.follow()
    assert activation.proposed == []
