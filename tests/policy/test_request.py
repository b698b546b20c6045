from gateway.policy.request import VARIABLES
from gateway.types.tools import Risk
from tests.policy.example import NOW, PIN, request


def test_each_name_reads_its_own_part_of_the_call() -> None:
    call = request(arguments={"a": 1})
    values = {name: each.read(call, Risk.CRITICAL) for name, each in VARIABLES.items()}
    assert values == {
        "args": {"a": 1},
        "identity.user": "sam",
        "identity.tenant": "acme",
        "identity.roles": ["support"],
        "identity.scopes": ["crm:read", "mail:send", "payments:write"],
        "identity.client": "desk",
        "request.method": "tools/call",
        "request.cause": "caller",
        "resource.uri": "",
        "tool.name": "payments.refund",
        "tool.server": "payments",
        "tool.effect": "write",
        "tool.risk": "critical",
        "tool.schema_hash": PIN,
        "tool.pinned_hash": PIN,
        "run.id": "run_1",
        "run.phase": "acting",
        "now": NOW,
    }
