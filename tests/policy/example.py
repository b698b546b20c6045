"""The policy and the tools that several tests of this folder speak about."""

from dataclasses import replace
from datetime import UTC, datetime

from gateway.policy.compile import compile_policy
from gateway.policy.engine import CompiledPolicy, PolicyRequest
from gateway.policy.files import PolicyFile, load
from gateway.types.actors import Actor
from gateway.types.causes import Cause
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Effect, Risk

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
PIN = "sha256:reviewed"

POLICY = """\
apiVersion: weighbridge/v1
kind: PolicySet
metadata: {name: production, owner: platform-security}
default: {decision: deny, code: no_matching_rule}

sets:
  eu_tenants: [acme, initech]
  finance_currencies: [EUR, USD]

rules:
  - id: guard.pinned-schema
    decision: deny
    code: tool_schema_changed
    when: tool.schema_hash != tool.pinned_hash

  - id: guard.plan-is-read-only
    decision: deny
    code: phase_forbids_side_effects
    match: {phases: [planning], effects: [write, destructive]}

  - id: guard.tenant-isolation
    decision: deny
    code: cross_tenant_argument
    reason: the call names another tenant than the caller's own
    match: {tools: ["crm.*"]}
    when: has(args.tenant) && args.tenant != identity.tenant

  - id: payments.refund.small
    decision: allow
    match:
      tools: [payments.refund]
      roles: {any: [support, finance]}
      scopes: {all: ["payments:write"]}
      phases: [acting]
    when: args.amount <= 1000.0 && args.currency in sets.finance_currencies
    limits:
      - {id: refunds-per-user, per: [tenant, user, tool], max: 20, window: 1h}
      - {id: refund-money, per: [tenant], sum: args.amount, max: 25000, window: 24h}

  - id: payments.refund.large
    decision: require_approval
    reason: refunds above 1000 need finance
    match:
      tools: [payments.refund]
      roles: {any: [support, finance]}
      scopes: {all: ["payments:write"]}
      phases: [acting]
    when: args.amount > 1000.0 && args.amount <= 10000.0
    risk: critical
    approval:
      approvers: {roles: [finance-lead], tenant: same}
      quorum: 1
      requester_may_approve: false
      expires: 30m

  - id: payments.refund.cap
    decision: deny
    code: amount_over_cap
    match: {tools: [payments.refund]}
    when: args.amount > 10000.0

  - id: crm.search
    decision: allow
    match:
      tools: [crm.search_customers]
      tenants: {in_set: eu_tenants}
      scopes: {all: ["crm:read"]}
    constrain:
      set: {tenant: identity.tenant}
      max: {limit: 50}
      default: {limit: 20}
    output:
      keep: [/items/*/id, /items/*/name, /items/*/city]
      redact: [{path: /items/*/email, as: hash}]

  - id: mail.internal
    decision: allow
    match: {tools: [mail.send], scopes: {all: ["mail:send"]}}
    when: args.to.all(r, email_domain(r) == identity.tenant + ".example")

  - id: mail.external
    decision: require_approval
    reason: mail leaves the company
    match: {tools: [mail.send], scopes: {all: ["mail:send"]}}
    when: "!args.to.all(r, email_domain(r) == identity.tenant + '.example')"
    approval: {approvers: {users: [self]}, quorum: 1, expires: 10m}

  - id: critical.four-eyes
    decision: require_approval
    reason: destructive operations need two approvers
    match: {risk: [critical], roles: {any: [sre]}, scopes: {all: ["infra:admin"]}}
    approval:
      approvers: {roles: [sre-lead, security]}
      quorum: 2
      requester_may_approve: false
      expires: 15m
"""

SAM = Actor(
    user="sam",
    tenant="acme",
    roles=frozenset({"support"}),
    scopes=frozenset({"payments:write", "crm:read", "mail:send"}),
    client="desk",
    method="jwt",
    issuer="https://idp.example",
)
OPS = replace(SAM, user="ops", roles=frozenset({"sre"}), scopes=frozenset({"infra:admin"}))


def policy(*texts: str) -> CompiledPolicy:
    """Compile texts as `a.yaml`, `b.yaml` and so on."""
    return compile_policy(files(*texts))


def files(*texts: str) -> list[PolicyFile]:
    """Load texts as `a.yaml`, `b.yaml` and so on."""
    return [load(text, file=f"{chr(97 + index)}.yaml") for index, text in enumerate(texts)]


def request(
    tool: str = "payments.refund",
    arguments: JsonObject | None = None,
    *,
    actor: Actor = SAM,
    effect: Effect = Effect.WRITE,
    risk: Risk = Risk.HIGH,
    phase: Phase = Phase.ACTING,
    pin: str = PIN,
    cause: Cause = Cause.CALLER,
) -> PolicyRequest:
    """One call, by default a refund that sam makes while acting."""
    return PolicyRequest(
        tool=tool,
        server=tool.partition(".")[0],
        effect=effect,
        risk=risk,
        pin=pin,
        pinned=PIN,
        actor=actor,
        phase=phase,
        arguments=arguments if arguments is not None else {},
        now=NOW,
        run_id="run_1",
        cause=cause,
    )


def refund(amount: Json, currency: str = "EUR") -> PolicyRequest:
    """A refund of an amount."""
    return request(arguments={"amount": amount, "currency": currency})


NO_WAY_BACK = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="it is for good")


def contract(
    tool: str,
    properties: JsonObject,
    *,
    required: list[Json] | None = None,
    effect: Effect = Effect.READ,
    risk: Risk = Risk.LOW,
    output: JsonObject | None = None,
    reviewed: bool = True,
) -> Contract:
    """A reviewed tool with these arguments."""
    schema: JsonObject = {"type": "object", "properties": properties, "required": required or []}
    definition: JsonObject = {"name": tool.partition(".")[2], "inputSchema": schema}
    if output is not None:
        definition["outputSchema"] = output
    return Contract(
        tool=tool,
        pin=PIN,
        effect=effect,
        risk=risk,
        definition=definition,
        reviewed=reviewed,
        place="contracts.yaml:1",
        compensation=None if effect is Effect.READ else NO_WAY_BACK,
    )


TEXT: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": "number"}
INTEGER: JsonObject = {"type": "integer"}

CONTRACTS = (
    contract(
        "payments.refund",
        {"request_id": TEXT, "order_id": TEXT, "amount": NUMBER, "currency": TEXT, "note": TEXT},
        required=["request_id", "order_id", "amount", "currency"],
        effect=Effect.WRITE,
        risk=Risk.HIGH,
    ),
    contract(
        "crm.search_customers",
        {"query": TEXT, "tenant": TEXT, "limit": INTEGER},
        required=["query"],
        output={
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"id": TEXT, "name": TEXT, "city": TEXT, "email": TEXT},
                    },
                }
            },
        },
    ),
    contract(
        "mail.send",
        {"to": {"type": "array", "items": TEXT, "minItems": 1}, "body": TEXT},
        required=["to", "body"],
        effect=Effect.WRITE,
        risk=Risk.MEDIUM,
    ),
    contract(
        "infra.drop_database",
        {"name": TEXT},
        required=["name"],
        effect=Effect.DESTRUCTIVE,
        risk=Risk.CRITICAL,
    ),
)
