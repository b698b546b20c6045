from gateway.events import proposing
from tests.events.test_schemas import faults
from tests.events.test_upkeep import kept
from tests.helpers.cases import NOW
from tests.helpers.proposals import a_proposal, somebody

CHANGE = {"requests": 500, "wider": 1, "narrower": 0, "other": 0}


def test_every_event_is_as_published() -> None:
    plain, compared = a_proposal(), a_proposal(change=CHANGE)
    for event in (
        proposing.proposed(plain, None, id="e", lacks=2),
        proposing.proposed(compared, somebody(), id="e", lacks=1),
        proposing.approved(plain, somebody(), id="e", at=NOW, lacks=0, reason="fine"),
        proposing.rejected(plain, somebody(account="bo"), id="e", at=NOW, lacks=1, reason="no"),
    ):
        assert faults(event.kind, kept(event)) == []


def test_who_said_so_is_told_and_nobody_is_nobody() -> None:
    body = proposing.approved(
        a_proposal(), somebody("bo", account="root"), id="e", at=NOW, lacks=0, reason="r" * 2_000
    ).body
    assert (body["by"], body["issuer"], body["lacks"]) == ("bo", "os:root", 0)
    assert len(str(body["reason"])) == 1_000
    assert proposing.proposed(a_proposal(), None, id="e", lacks=2).body["by"] == ""
