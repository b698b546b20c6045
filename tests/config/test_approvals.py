import base64

import pytest
from pydantic import ValidationError

from gateway.config.approvals import ApprovalsSettings
from gateway.config.settings import Settings
from gateway.types.approvals import NoticeStage

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
HOOK = {"name": "audit", "url": "https://hooks.example.com/x", "secret": SECRET}


def read(**section: object) -> ApprovalsSettings:
    return Settings.model_validate({"approvals": section}).approvals


def fault(**section: object) -> str:
    with pytest.raises(ValidationError) as caught:
        read(**section)
    return caught.value.errors()[0]["msg"]


def test_without_a_word_nobody_is_told_and_nobody_may_decide_by_default() -> None:
    settings = read()
    assert settings.approvers.clause is None
    assert settings.targets("acme", NoticeStage.REQUESTED) == ()
    assert settings.max_pending == 10
    assert settings.max_requests == 60


def test_the_default_approvers_are_one_group_of_so_many_people() -> None:
    clause = read(approvers={"roles": ["ops"], "users": ["ada"], "count": 2}).approvers.clause
    assert clause is not None
    assert (clause.roles, clause.users, clause.quorum) == (("ops",), ("ada",), 2)
    assert not clause.requester_may_approve


def test_more_people_than_are_named_can_never_be_had() -> None:
    assert "`count` is larger" in fault(approvers={"users": ["ada", "ada"], "count": 2})
    two = ["jos\u00e9", "jose\u0301"]
    assert "`count` is larger" in fault(approvers={"users": two, "count": 2})
    assert read(approvers={"users": ["ada"], "roles": ["ops"], "count": 2}).approvers.count == 2


@pytest.mark.parametrize(
    ("client", "seconds"),
    [
        ("", 45.0),
        ("somebody else", 45.0),
        ("claude-code", 600.0),
        ("Claude-AI", 210.0),
        ("Visual Studio Code - Insiders", 600.0),
    ],
)
def test_a_call_is_held_for_as_long_as_its_client_is_known_to_wait(
    client: str, seconds: float
) -> None:
    assert read().hold.seconds(client) == seconds


def test_what_is_configured_of_a_client_goes_before_what_is_known_of_it() -> None:
    hold = read(hold={"default": "1s", "clients": {"CLAUDE-*": "5s", "claude-code": "7s"}}).hold
    assert hold.seconds("claude-code") == 5.0
    assert hold.seconds("other") == 1.0


def test_no_client_is_held_for_more_than_an_hour() -> None:
    assert "more than `1h`" in fault(hold={"clients": {"x": "2h"}})
    assert "3600" in fault(hold={"default": "2h"})


def test_held_calls_take_up_a_quarter_of_the_places_unless_it_is_said_how_many() -> None:
    assert read().hold.places(256) == 64
    assert read().hold.places(1) == 1
    assert read(hold={"most": 10}).hold.places(256) == 10


def test_an_address_is_told_of_its_tenants_and_stages_alone() -> None:
    other = HOOK | {"name": "b", "tenants": ["globex"], "stages": ["decided"]}
    settings = read(webhooks=[HOOK, other])
    assert settings.targets("acme", NoticeStage.DECIDED) == ("audit",)
    assert settings.targets("globex", NoticeStage.DECIDED) == ("audit", "b")
    assert settings.targets("globex", NoticeStage.EXPIRED) == ("audit",)
    assert settings.webhook("gone") is None
    found = settings.webhook("b")
    assert found is not None
    assert found.key == b"k" * 32


@pytest.mark.parametrize(
    "secret", ["hunter2", "whsec_", "whsec_" + "eA==", "whsec_*" + "A" * 44, SECRET[6:], "whsec_é"]
)
def test_a_secret_that_could_be_guessed_is_refused_and_never_repeated(secret: str) -> None:
    said = fault(webhooks=[HOOK | {"secret": secret}])
    assert "openssl rand -base64 32" in said
    assert secret == "whsec_" or secret not in said


def test_a_cloud_event_is_never_sent_unsigned() -> None:
    plain = {"name": "a", "url": "https://hooks.slack.com/services/x"}
    assert "needs a `secret`" in fault(webhooks=[plain])
    assert read(webhooks=[plain | {"format": "slack"}]).webhooks[0].key == b""


def test_an_address_is_https_and_has_a_name_of_its_own() -> None:
    assert "https://" in fault(webhooks=[HOOK | {"url": "http://hooks.example.com/x"}])
    assert "is not a name" in fault(webhooks=[HOOK | {"name": "a b"}])
    assert "the same `name`" in fault(webhooks=[HOOK, HOOK])
    assert read(webhooks=[HOOK | {"url": "http://127.0.0.1:9/x"}]).webhooks[0].key


def test_no_client_is_taken_to_come_back_by_itself_unless_the_configuration_says_so() -> None:
    assert not read().hold.comes_back("mcp")
    hold = read(hold={"rounds": ["MCP", "desk-*"]}).hold
    assert [hold.comes_back(each) for each in ("mcp", "Desk-1", "mcp2", "")] == [
        True,
        True,
        False,
        False,
    ]
