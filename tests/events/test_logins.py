from collections.abc import Sequence

from gateway.events import logins
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.events import Event, EventKind
from tests.helpers.cases import NOW

ANN = Approver(
    tenant="acme",
    user="ann",
    roles=frozenset({"lead", "clerk"}),
    assurance=Assurance.AUTHENTICATED,
    channel=Channel.PAGE,
    issuer="https://login.example.com/",
)


def every_event() -> Sequence[Event]:
    return (
        logins.link_made(id="1", at=NOW, tenant="acme", user="ann", account="ops", until=NOW),
        logins.logged_in(id="2", at=NOW, person=ANN, peer="127.0.0.1"),
        logins.logged_out(id="3", at=NOW, person=ANN),
    )


def test_who_came_in_and_left_is_told_to_his_tenant() -> None:
    events = every_event()
    assert {(event.kind, event.tenant) for event in events} == {(EventKind.ADMIN, "acme")}
    assert [event.body["action"] for event in events] == [
        "login_link_made",
        "logged_in",
        "logged_out",
    ]
    assert all(event.body["user"] == "ann" for event in events)
    assert events[1].body["roles"] == ["clerk", "lead"]
