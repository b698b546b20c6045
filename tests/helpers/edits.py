"""A small policy with a bit of everything, and what a change of its texts comes to."""

from collections.abc import Mapping
from datetime import UTC, datetime

from gateway.actions import revisions
from gateway.actions.comparing import Comparison, compare
from gateway.revision import Revision, Unreviewed
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Effect, Risk
from tests.journeys import house

AT = datetime(2026, 11, 30, 9, tzinfo=UTC)
RULES = """\
sets:
  paid_in: [EUR, USD]
rules:
  - id: own-tenant
    decision: deny
    code: cross_tenant
    match: {tools: [crm.find]}
    when: has(args.tenant) && args.tenant != identity.tenant
  - id: no-contractors
    decision: deny
    match: {tools: [crm.find], roles: {any: [contractor]}}
  - id: find
    decision: allow
    match: {tools: [crm.find], roles: {any: [support, contractor]}, tenants: [acme, initech]}
    constrain:
      set: {tenant: identity.tenant}
      max: {limit: 50}
    output:
      keep: [/items/*/id, /items/*/name]
      redact: [{path: /items/*/mail, as: mask}]
  - id: refund.small
    decision: allow
    match: {tools: [pay.refund], roles: {any: [support]}, phases: [acting]}
    when: args.amount <= 100.0 && args.currency in sets.paid_in
    limits:
      - {id: refunds, per: [tenant, user], max: 20, window: 1h}
  - id: refund.large
    decision: require_approval
    match: {tools: [pay.refund], roles: {any: [support]}}
    when: args.amount > 100.0 && args.amount <= 1000.0
    approval:
      factors:
        - {name: finance, roles: [finance-lead], count: 2}
        - {name: legal, roles: [legal]}
      expires: 30m
  - id: refund.watched
    decision: deny
    mode: shadow
    match: {tools: [pay.refund]}
    when: has(args.note) && args.note == ''
  - id: mail
    decision: allow
    match: {tools: [mail.send], scopes: {all: ["mail:send"]}}
    when: args.to.all(r, email_domain(r) == identity.tenant + ".example") && size(args.body) <= 200
  - id: office-hours
    decision: deny
    match: {tools: [mail.send]}
    when: now.getHours() < 8 || now.getHours() >= 18
  - id: handbook
    decision: allow
    match: {resources: ["file:///handbook/*"], servers: [files], roles: {any: [support]}}
  - id: close
    decision: allow
    match: {tools: [crm.close], templates: [case], roles: {any: [support]}}
    when: has(run.fields.customer) && args.customer == run.fields.customer && !run.tainted
"""
RUNS = """\
runs:
  case:
    fields:
      customer: {from: [host, user]}
    phases:
      acting: {enter_when: ["evidence >= 1"]}
"""
_TEXT: JsonObject = {"type": "string"}


def a_written_contract(
    server: str, name: str, properties: JsonObject, required: list[str], effect: Effect, risk: Risk
) -> Contract:
    definition: JsonObject = {
        "name": name,
        "inputSchema": {"type": "object", "properties": properties, "required": [*required]},
    }
    back = Compensation(kind=CompensationClass.IRREVERSIBLE, reason="for good")
    extra = {} if effect is Effect.READ else {"compensation": back}
    return house.contract(definition, server, effect=effect, risk=risk, **extra)


CONTRACTS = house.contracts(
    a_written_contract(
        "crm",
        "find",
        {"query": _TEXT, "tenant": _TEXT, "limit": {"type": "integer"}},
        ["query"],
        Effect.READ,
        Risk.LOW,
    ),
    a_written_contract("crm", "close", {"customer": _TEXT}, ["customer"], Effect.WRITE, Risk.LOW),
    a_written_contract(
        "pay",
        "refund",
        {
            "amount": {"type": "number"},
            "currency": {"enum": ["EUR", "USD", "GBP"]},
            "note": _TEXT,
        },
        ["amount", "currency"],
        Effect.WRITE,
        Risk.HIGH,
    ),
    a_written_contract(
        "mail",
        "send",
        {"to": {"type": "array", "items": _TEXT, "minItems": 1}, "body": _TEXT},
        ["to", "body"],
        Effect.WRITE,
        Risk.MEDIUM,
    ),
)
TEXTS: Mapping[str, str] = {
    "contracts/all.yaml": CONTRACTS,
    "rules.yaml": RULES,
    "runs/case.yaml": RUNS,
}


def a_revision(texts: Mapping[str, str] = TEXTS, prefix: str = "") -> Revision:
    """Compile texts by the names of their files."""
    folder = revisions.folder_of(texts)
    return revisions.compiled(folder, unreviewed=Unreviewed.REFUSE, at=AT, prefix=prefix)


def edited(*edits: tuple[str, str], file: str = "rules.yaml") -> dict[str, str]:
    """Return the texts with edits, each of which is made once."""
    text = TEXTS[file]
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return {**TEXTS, file: text}


def after(*edits: tuple[str, str], file: str = "rules.yaml") -> Comparison:
    """Compare the policy with itself after some edits."""
    old = a_revision(prefix="old/")
    return compare(old, a_revision(edited(*edits, file=file), prefix="new/"))
