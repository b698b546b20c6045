"""Changes of the policy that wait for people: proposed, agreed on or turned down with their events.

Which revision is in force is what was agreed on last, for every gateway of the store.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from gateway import ids, jsontext
from gateway.approvals import agreeing
from gateway.clock import Clock
from gateway.events import proposing
from gateway.store.changes import Change, Log, Made
from gateway.store.engine import Parameters, Row, Transaction
from gateway.store.rows import clean
from gateway.store.times import microseconds, moment
from gateway.store.worker import Worker
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.proposals import Backing, Proposal, ProposalState
from gateway.types.values import replaced, value

_REASON: Final = 1_000


@value
class Ruled:
    """What came of somebody's word on a proposal."""

    proposal: Proposal | None  # None: there is no such proposal
    lacks: int = 0  # people who still have to agree
    obstacle: str = ""  # why his word does not count


class Proposals:
    """The tables of proposals. Every method raises StoreUnavailable."""

    def __init__(self, log: Log, worker: Worker, clock: Clock) -> None:
        self._log = log
        self._worker = worker
        self._clock = clock

    async def agreed(self) -> Proposal | None:
        """Return what is in force by agreement, or None where nothing ever was."""
        return next(iter(await self._fetch("agreed_proposal", {})), None)

    async def open(self) -> list[Proposal]:
        """Return those that wait, oldest first."""
        return await self._fetch("open_proposals", {})

    async def latest(self, limit: int = 20) -> list[Proposal]:
        """Return the newest."""
        return await self._fetch("list_proposals", {"limit": limit})

    async def beginning(self, with_: str) -> list[Proposal]:
        """Return those of revisions whose ids begin with a text, newest first."""
        if re.fullmatch(r"sha256:[0-9a-f]*", with_) is None:
            return []
        return await self._fetch("proposals_like", {"pattern": with_ + "%"})

    async def backings(self, id: str) -> tuple[Backing, ...]:
        """Return who agrees with one, in order."""
        return await self._worker.read(lambda transaction: _backings(transaction, id))

    async def propose(self, proposal: Proposal, who: Approver | None = None) -> bool:
        """Propose a revision; who proposes it agrees with it. False where it is proposed already.

        Its event is committed with it.
        """
        row, event_id = _row(proposal), ids.ulid()
        by = [] if who is None else [Backing(person=who, at=proposal.at, is_proposer=True)]
        event = proposing.proposed(
            proposal, who, id=event_id, lacks=max(0, proposal.people - len(by))
        )

        def work(transaction: Transaction) -> Made[bool]:
            is_new = transaction.execute("add_proposal", row) > 0
            if not is_new:  # repeated, it finds its own
                found = transaction.fetch("get_proposal", {"id": proposal.id})
                return Made(bool(found), keeps_events=bool(found))
            for each in by:
                transaction.execute("add_backing", _backing_row(proposal.id, each))
            return Made(True)

        return await self._log.carry(Change(work), [event])

    async def adopt(self, proposal: Proposal) -> None:
        """Take what is in force already as agreed on: where a gateway first goes by agreement."""
        row = _row(replaced(proposal, state=ProposalState.AGREED, settled_at=proposal.at))

        def work(transaction: Transaction) -> Made[None]:
            if not transaction.fetch("agreed_proposal", {}):
                transaction.execute("add_proposal", row)
            return Made(None)

        await self._log.carry(Change(work))

    async def agree(self, id: str, who: Approver, *, say: agreeing.Say, reason: str = "") -> Ruled:
        """Have somebody agree with a proposal; the last that it takes puts it in force.

        Of those before him count who may still agree today.
        """
        now, event_id = self._clock.now(), ids.ulid()
        backing = Backing(person=who, at=now, reason=reason[:_REASON])

        def work(transaction: Transaction) -> Made[Ruled]:
            found = _proposals(transaction.fetch("get_proposal", {"id": id}))
            if not found:
                return Made(Ruled(proposal=None), keeps_events=False)
            proposal, before = found[0], _backings(transaction, id)
            if any(each == backing for each in before):  # the answer to the first try was lost
                return Made(
                    Ruled(proposal=proposal, lacks=agreeing.lacks(proposal, before, say)),
                    told=[_approved(proposal, before, backing, event_id, say)],
                )
            obstacle = agreeing.obstacle(proposal, before, who, say)
            if obstacle:
                return Made(
                    Ruled(
                        proposal=proposal,
                        lacks=agreeing.lacks(proposal, before, say),
                        obstacle=obstacle,
                    )
                )
            transaction.execute("add_backing", _backing_row(id, backing))
            after = _backings(transaction, id)
            lack = agreeing.lacks(proposal, after, say)
            if not lack:
                proposal = _settled(transaction, proposal, now)
            ruled = Ruled(proposal=proposal, lacks=lack)
            return Made(ruled, told=[_approved(proposal, after, backing, event_id, say)])

        return await self._log.carry(Change(work))

    async def reject(self, id: str, who: Approver, *, say: agreeing.Say, reason: str) -> Ruled:
        """Have somebody turn a proposal down, for good; whoever proposed it may, too."""
        now, event_id = self._clock.now(), ids.ulid()

        def work(transaction: Transaction) -> Made[Ruled]:
            found = _proposals(transaction.fetch("get_proposal", {"id": id}))
            if not found:
                return Made(Ruled(proposal=None))
            proposal = found[0]
            lack = agreeing.lacks(proposal, _backings(transaction, id), say)
            obstacle = agreeing.stranger(who, say)
            if not obstacle and proposal.state is not ProposalState.OPEN:
                is_ours = proposal.settled_at == now and proposal.state is ProposalState.REJECTED
                obstacle = "" if is_ours else f"it is {proposal.state.value} already"
            if obstacle:
                return Made(Ruled(proposal=proposal, lacks=lack, obstacle=obstacle))
            settling: Parameters = {
                "id": id,
                "state": ProposalState.REJECTED.value,
                "settled_at": microseconds(now),
            }
            transaction.execute("settle_proposal", settling)
            event = proposing.rejected(
                proposal, who, id=event_id, at=now, lacks=lack, reason=reason[:_REASON]
            )
            ended = replaced(proposal, state=ProposalState.REJECTED, settled_at=now)
            return Made(Ruled(proposal=ended, lacks=lack), told=[event])

        return await self._log.carry(Change(work))

    async def _fetch(self, name: str, parameters: Parameters) -> list[Proposal]:
        return await self._worker.read(
            lambda transaction: _proposals(transaction.fetch(name, parameters))
        )


def _settled(transaction: Transaction, proposal: Proposal, now: datetime) -> Proposal:
    """Put a proposal in force: later than what was agreed on before it, whatever clocks say."""
    last = transaction.fetch("agreed_proposal", {})
    at = max(microseconds(now), last[0].integer("settled_at") + 1 if last else 0)
    settling: Parameters = {
        "id": proposal.id,
        "state": ProposalState.AGREED.value,
        "settled_at": at,
    }
    transaction.execute("settle_proposal", settling)
    transaction.execute("supersede_proposals", {"id": proposal.id, "settled_at": at})
    return replaced(proposal, state=ProposalState.AGREED, settled_at=moment(at))


def _approved(
    proposal: Proposal, after: Sequence[Backing], backing: Backing, id: str, say: agreeing.Say
) -> Event:
    return proposing.approved(
        proposal,
        backing.person,
        id=id,
        at=backing.at,
        lacks=agreeing.lacks(proposal, after, say),
        reason=backing.reason,
    )


def _backings(transaction: Transaction, id: str) -> tuple[Backing, ...]:
    return tuple(map(_backing, transaction.fetch("list_backings", {"proposal": id})))


def _row(proposal: Proposal) -> Parameters:
    texts: JsonObject = dict(proposal.texts)
    settled = proposal.settled_at
    return {
        "id": proposal.id,
        "revision": proposal.revision,
        "base": proposal.base,
        "at": microseconds(proposal.at),
        "because": clean(proposal.because),
        "people": proposal.people,
        "warnings": proposal.warnings,
        "tests": proposal.tests,
        "change": jsontext.dump(proposal.change).decode(),
        "texts": jsontext.dump(texts).decode(),
        "state": proposal.state.value,
        "settled_at": 0 if settled is None else microseconds(settled),
    }


def _proposals(rows: Iterable[Row]) -> list[Proposal]:
    return [_proposal(row) for row in rows]


def _proposal(row: Row) -> Proposal:
    settled = row.integer("settled_at")
    texts = _object(row.text("texts"))
    return Proposal(
        id=row.text("id"),
        revision=row.text("revision"),
        base=row.text("base"),
        at=moment(row.integer("at")),
        because=row.text("because"),
        people=row.integer("people"),
        texts={name: text for name, text in texts.items() if isinstance(text, str)},
        warnings=row.integer("warnings"),
        tests=row.integer("tests"),
        change=_object(row.text("change")),
        state=ProposalState(row.text("state")),
        settled_at=moment(settled) if settled else None,
    )


def _backing_row(id: str, backing: Backing) -> Parameters:
    who = backing.person
    roles = list[Json](sorted(who.roles))
    return {
        "proposal": id,
        "tenant": clean(who.tenant),
        "user_name": clean(who.user),
        "roles": jsontext.dump(roles).decode(),
        "assurance": who.assurance.value,
        "channel": who.channel.value,
        "issuer": clean(who.issuer),
        "at": microseconds(backing.at),
        "reason": clean(backing.reason),
        "is_proposer": int(backing.is_proposer),
    }


def _backing(row: Row) -> Backing:
    roles = jsontext.parse_result(row.text("roles").encode())
    return Backing(
        person=Approver(
            tenant=row.text("tenant"),
            user=row.text("user_name"),
            roles=frozenset(map(str, roles)) if isinstance(roles, list) else frozenset(),
            assurance=Assurance(row.text("assurance")),
            channel=Channel(row.text("channel")),
            issuer=row.text("issuer"),
        ),
        at=moment(row.integer("at")),
        reason=row.text("reason"),
        is_proposer=bool(row.integer("is_proposer")),
    )


def _object(text: str) -> JsonObject:
    value = jsontext.parse_result(text.encode())
    return value if isinstance(value, dict) else {}
