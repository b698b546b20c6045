"""A made-up company with every kind of rule, contract and template, and callers who try them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from gateway.actions.revisions import Folder, compiled
from gateway.contracts import pins, writing
from gateway.revision import Revision, Unreviewed
from gateway.types.guarantees import (
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
)
from gateway.types.json import JsonObject
from gateway.types.tools import (
    Contract,
    DocumentPaths,
    Effect,
    OnFail,
    ProvenanceRule,
    Retrieval,
    Risk,
    RiskRaise,
    Sensitivity,
    Source,
    SourceKind,
    SourceTrust,
    Tool,
    WhenTainted,
    Yield,
)
from tests.helpers.cases import NOW

SHELL: Final = Tool(  # nobody reviewed it
    server="shell",
    name="run_command",
    exposed_name="shell__run_command",
    definition=(
        _shell := {
            "name": "run_command",
            "inputSchema": {
                "type": "object",
                "properties": {"command": {"type": "string"}, "api_key": {"type": "string"}},
                "required": ["command"],
            },
            "annotations": {"destructiveHint": False},
        }
    ),
    pin=pins.pin(_shell),
)

POLICY: Final = """
default: {decision: deny, code: no_matching_rule, reason: no rule allows this call}
sets:
  currencies: [EUR, USD]
  partners: [acme, initech]
rules:
  - id: crm.get
    decision: allow
    match: {tools: [crm.get], roles: {any: [support, viewer]}}
  - id: crm.find
    decision: allow
    match: {tools: [crm.find], roles: {any: [support, viewer]}}
    constrain: {default: {limit: 3}, max: {limit: 10}}
    output:
      keep: [/customers/*/id, /customers/*/name, /customers/*/email]
      redact: [{path: '/customers/*/email', as: hash}]
  - id: crm.rows
    decision: obligation
    match: {tools: [crm.find], tenants: {in_set: partners}}
    output: {rows: [{path: /customers, where: row.tenant == identity.tenant}]}
  - id: own-tenant
    decision: deny
    code: cross_tenant
    reason: the call names another tenant
    match: {servers: [crm, pay]}
    when: has(args.tenant) && args.tenant != '' && args.tenant != identity.tenant
  - id: write-the-tenant
    decision: obligation
    match: {servers: [pay]}
    constrain: {set: {tenant: identity.tenant}}
  - id: crm.note
    decision: allow
    match: {tools: [crm.note], roles: {any: [support]}}
    when: size(args.text) <= 120
    limits:
      - {id: notes, per: [tenant, user], max: 3, window: 5m}
  - id: crm.note.no-links
    decision: deny
    code: links
    reason: notes have no links
    match: {tools: [crm.note]}
    when: args.text.contains('http')
  - id: crm.one-letter
    decision: deny
    mode: shadow
    code: too_wide
    reason: one letter
    match: {tools: [crm.find]}
    when: size(args.query) < 2
  - id: crm.delete
    decision: require_approval
    reason: a lead decides
    match: {tools: [crm.delete], roles: {any: [support]}}
    approval: {approvers: {roles: [lead]}}
  - id: pay.small
    decision: allow
    match: {tools: [pay.refund], roles: {any: [support]}, scopes: {all: ['pay:write']}}
    when: args.amount <= 100.0 && args.currency in sets.currencies
    limits:
      - {id: refunds, per: [tenant, user], max: 5, window: 1h}
      - {id: money, per: [tenant], sum: args.amount, max: 2000, window: 24h}
  - id: pay.large
    decision: require_approval
    code: finance
    reason: finance decides
    match: {tools: [pay.refund], roles: {any: [support]}}
    when: args.amount > 100.0 && args.amount <= 1000.0 && args.currency in sets.currencies
    risk: high
    approval: {approvers: {roles: [finance]}, quorum: 2}
  - id: pay.cap
    decision: deny
    code: cap
    reason: too much
    match: {tools: [pay.refund]}
    when: args.amount > 1000.0
  - id: pay.other-customer
    decision: deny
    code: another_customer
    reason: the run is about another customer
    match: {tools: [pay.refund], templates: [refund]}
    when: has(run.fields.customer_id) && args.customer_id != run.fields.customer_id
  - id: pay.night
    decision: deny
    code: night
    reason: nobody pays at night
    match: {tools: [pay.refund]}
    when: now.getHours() >= 22 || now.getHours() < 6
  - id: pay.cancel
    decision: allow
    match: {tools: [pay.cancel], causes: [compensation], roles: {any: [support]}}
  - id: mail.internal
    decision: allow
    match: {tools: [mail.send], roles: {any: [support, viewer]}}
    when: args.to.all(each, email_domain(each) == 'example.org')
  - id: mail.external
    decision: require_approval
    match: {tools: [mail.send], roles: {any: [support]}}
    when: args.to.exists(each, email_domain(each) != 'example.org')
    approval: {approvers: {roles: [lead], users: [kim]}}
  - id: mail.tainted
    decision: deny
    code: tainted
    reason: strangers could have written this
    match: {tools: [mail.send]}
    when: run.tainted && !('mail:tainted' in identity.scopes)
  - id: mail.raise
    decision: obligation
    risk: high
    match: {tools: [mail.send]}
    when: size(args.to) > 2
  - id: mail.high
    decision: deny
    code: high_mail
    reason: mails to many are for leads
    match: {tools: [mail.send], risk: [high, critical], users: [guest]}
  - id: web
    decision: allow
    match: {tools: [web.fetch]}
    when: url_host(args.url).endsWith('example.org') || url_host(args.url) == 'example.net'
  - id: files.read
    decision: allow
    match: {resources: ['file:///handbook/*'], servers: [files], roles: {any: [support, viewer]}}
  - id: files.secret
    decision: deny
    code: secret_file
    reason: not that one
    match: {resources: ['file:///handbook/secret*']}
  - id: files.prompts
    decision: allow
    match: {prompts: [files.*], roles: {any: [support]}}
  - id: files.tone
    decision: deny
    code: tone
    reason: be kind
    match: {prompts: [files.reply], methods: [prompts/get]}
    when: has(args.tone) && args.tone == 'rude'
  - id: tasks
    decision: allow
    match: {tools: [files.index], authenticated_by: [api_key, jwt]}
  - id: tasks.no-cancel
    decision: deny
    code: no_cancel
    reason: it ends by itself
    match: {methods: [tasks/cancel], users: [guest]}
  - id: shell
    decision: allow
    match: {tools: [shell.*], roles: {all: [support, operator]}}
    when: args.command.startsWith('ls')
  - id: shell.planning
    decision: deny
    code: planning
    reason: not while planning
    match: {tools: [shell.*], phases: [planning, created]}
  - id: said
    decision: deny
    code: said
    reason: the model said so
    match: {tools: [crm.note]}
    when: has(run.said.mood) && run.said.mood == 'angry'
"""

TEMPLATES: Final = """
runs:
  refund:
    objective: give money back
    fields:
      customer_id: {required: true, from: [user, host, crm.customer_id]}
      ticket: {from: [user, host]}
      mood: {from: [model]}
    phases:
      acting:
        enter_when: [evidence >= 1]
        tools: [pay.refund, crm.note]
      finalizing:
        enter_when: [open_ops == 0, "fields.ticket != ''"]
        tools: [crm.note]
    completed_when: [succeeded(pay.refund)]
    limits:
      wall: 2h
      calls: 12
      writes: 4
      tokens: 5000
      money: {argument: /amount, max: 600, tools: [pay.refund]}
    explicit_for: [critical]
  triage:
    mode: host
    fields:
      ticket: {required: true}
"""

_TEXT: Final[JsonObject] = {"type": "string"}


def _definition(name: str, properties: JsonObject, *required: str, **more: Any) -> JsonObject:
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }
    return {"name": name, "description": name, "inputSchema": schema, **more}


def contract(
    tool: str, properties: JsonObject, *required: str, effect: Effect, risk: Risk, **changes: Any
) -> Contract:
    """Return a reviewed contract of a tool, with the definition that it pins."""
    server, _, name = tool.partition(".")
    del server
    hints = changes.pop("hints", {})
    definition = _definition(name, properties, *required, **hints)
    if effect is not Effect.READ and "compensation" not in changes:
        pivot = Compensation(kind=CompensationClass.PIVOT, reason="nothing takes it back")
        changes["compensation"] = pivot
    return Contract(
        tool=tool,
        pin=pins.pin(definition),
        effect=effect,
        risk=risk,
        definition=definition,
        **changes,
    )


def _from(kind: SourceKind, *operands: str, **changes: Any) -> Source:
    return Source(kind=kind, operands=operands, **changes)


def contracts() -> tuple[Contract, ...]:
    """Return the contracts of the company."""
    customers = Source(kind=SourceKind.RESULTS, operands=("crm.customer_id",))
    return (
        contract(
            "crm.find",
            {"query": _TEXT, "limit": {"type": "integer"}, "tenant": _TEXT},
            "query",
            effect=Effect.READ,
            risk=Risk.LOW,
            scopes=frozenset({"crm:read"}),
            yields=(Yield(type="crm.customer_id", path="/customers/*/id"),),
            retrieval=Retrieval(query="/query", documents=DocumentPaths(path="/customers/*")),
        ),
        contract("crm.get", {"id": _TEXT}, "id", effect=Effect.READ, risk=Risk.LOW),
        contract(
            "crm.note",
            {"customer_id": _TEXT, "text": {"type": "string", "maxLength": 400}},
            "customer_id",
            "text",
            effect=Effect.WRITE,
            risk=Risk.LOW,
            sensitive={"/text": Sensitivity.PERSONAL},
            provenance=(
                ProvenanceRule(pointer="/customer_id", sources=(customers,), on_fail=OnFail.DENY),
            ),
        ),
        contract(
            "crm.delete",
            {"customer_id": _TEXT},
            "customer_id",
            effect=Effect.DESTRUCTIVE,
            risk=Risk.HIGH,
            compensation=Compensation(
                kind=CompensationClass.IRREVERSIBLE, reason="what is gone is gone"
            ),
        ),
        contract(
            "pay.refund",
            {
                "customer_id": _TEXT,
                "amount": {"type": "number", "minimum": 0},
                "currency": {"enum": ["EUR", "USD", "GBP"]},
                "iban": {"type": "string", "minLength": 5},
                "note": _TEXT,
                "tenant": _TEXT,
                "key": _TEXT,
            },
            "customer_id",
            "amount",
            "currency",
            effect=Effect.WRITE,
            risk=Risk.MEDIUM,
            scopes=frozenset({"pay:write"}),
            sensitive={"/iban": Sensitivity.SECRET, "/note": Sensitivity.PERSONAL},
            raises=(
                RiskRaise(when="args.amount > 500.0", reason="much money", risk=Risk.HIGH),
                RiskRaise(
                    when="has(args.note) && args.note.contains('urgent')",
                    reason="somebody is in a hurry",
                    risk=Risk.HIGH,
                ),
            ),
            provenance=(
                ProvenanceRule(
                    pointer="/customer_id",
                    sources=(customers, _from(SourceKind.COLLECTED, "customer_id")),
                    on_fail=OnFail.APPROVE,
                ),
                ProvenanceRule(
                    pointer="/amount",
                    sources=(
                        _from(
                            SourceKind.COMPUTED,
                            "0..800",
                            bounds=(Decimal(0), Decimal(800)),
                        ),
                    ),
                    on_fail=OnFail.LOG,
                ),
            ),
            idempotency=Idempotency(inject=Injection(place=InjectPlace.ARGUMENT, name="/key")),
        ),
        contract(
            "pay.cancel", {"reference": _TEXT}, "reference", effect=Effect.WRITE, risk=Risk.MEDIUM
        ),
        contract(
            "mail.send",
            {
                "to": {"type": "array", "items": _TEXT, "minItems": 1},
                "subject": _TEXT,
                "body": _TEXT,
            },
            "to",
            "body",
            effect=Effect.WRITE,
            risk=Risk.MEDIUM,
            sensitive={"/body": Sensitivity.PERSONAL},
            when_tainted=WhenTainted.APPROVE,
            hints={"annotations": {"destructiveHint": True}},
        ),
        contract(
            "web.fetch",
            {"url": _TEXT},
            "url",
            effect=Effect.READ,
            risk=Risk.LOW,
            result_trust=SourceTrust.EXTERNAL,
        ),
        contract("files.index", {"folder": _TEXT}, "folder", effect=Effect.READ, risk=Risk.MEDIUM),
    )


@dataclass(frozen=True, kw_only=True)
class World:
    """Texts that make a revision."""

    contracts: tuple[Contract, ...] = field(default_factory=contracts)
    policies: Mapping[str, str] = field(default_factory=lambda: {"rules.yaml": POLICY})
    templates: str = TEMPLATES
    unreviewed: Unreviewed = Unreviewed.OBSERVE

    def revision(self) -> Revision:
        """Compile it; raises FilesError."""
        folder = Folder(
            contracts={"contracts/all.yaml": writing.dump(self.contracts)},
            policies=self.policies,
            tests={},
            runs={"runs/all.yaml": self.templates} if self.templates else {},
        )
        return compiled(folder, unreviewed=self.unreviewed, at=NOW)

    def edited(self, old: str, new: str) -> "World":
        """Return the world with other words in its policies; they have to be there."""
        assert any(old in text for text in self.policies.values()), old
        policies = {name: text.replace(old, new) for name, text in self.policies.items()}
        return replace(self, policies=policies)

    def with_contract(self, tool: str, **changes: Any) -> "World":
        """Return the world with other terms for a tool."""
        assert tool in {each.tool for each in self.contracts}
        changed = tuple(
            replace(each, **changes) if each.tool == tool else each for each in self.contracts
        )
        return replace(self, contracts=changed)


def tools(contracts: Sequence[Contract]) -> dict[str, Tool]:
    """Return what servers publish: the reviewed definitions, and one tool that nobody reviewed."""
    found = {
        each.tool: Tool(
            server=each.tool.partition(".")[0],
            name=each.tool.partition(".")[2],
            exposed_name=each.tool.replace(".", "__"),
            definition=each.definition,
            pin=each.pin,
        )
        for each in contracts
    }
    return {**found, SHELL.key: SHELL}
