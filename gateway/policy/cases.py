"""Files of policy tests: named callers, one line a case, and what each case must come to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime, BeforeValidator, Field, StrictInt, model_validator

from gateway import yamltext
from gateway.errors import FileError, FilesError
from gateway.policy.methods import OF, USE
from gateway.policy.rules import API_VERSION, AnyJson, Model, Name
from gateway.policy.run_cases import Known, RunUnderTest
from gateway.types.actors import Actor
from gateway.types.calls import AuthMethod, Method
from gateway.types.causes import Cause
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Bound, Phase
from gateway.types.tools import Contract, Effect, Kind, Risk
from gateway.yamltext.models import suggest

_ADD = "; add it to `callers`"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


NameOrNames: TypeAlias = Annotated[
    tuple[Name, ...], BeforeValidator(_listed, json_schema_input_type=Name | tuple[Name, ...])
]


class Caller(Model):
    """Somebody who calls tools."""

    user: Name
    tenant: Name = "default"
    roles: tuple[Name, ...] = ()
    scopes: tuple[Name, ...] = ()
    client: str = "policy-test"
    authenticated_by: AuthMethod = AuthMethod.JWT


class Expect(Model):
    """What a case must come to; only what is named is compared."""

    decision: DecisionEffect | None = None
    rule: str | None = None
    code: str | None = None
    approvers: tuple[Name, ...] | None = None
    quorum: StrictInt | None = None
    factors: dict[Name, StrictInt] | None = None
    risk: Risk | None = None
    args: dict[str, AnyJson] | None = None
    shadow: NameOrNames | None = None
    phase: Phase | None = None
    result: dict[str, AnyJson] | None = None  # what leaves of the one that the case gives

    @model_validator(mode="after")
    def _something(self) -> "Expect":
        if not self.model_fields_set:
            raise ValueError("a case that expects nothing can't fail; name a `decision` at least")
        return self


class Defaults(Model):
    """What a case has when it doesn't say otherwise."""

    caller: Annotated[Name | None, Field(alias="as")] = None
    phase: Phase = Phase.ACTING
    run: str = "run_test"


class CaseModel(Model):
    """One case, as people write it: about a tool, a resource or a prompt.

    `method` is what is done with it, unless it is used; `ask` is what its server asks meanwhile,
    and then `args` are the question's. `cause` is why the gateway makes the call by itself, `run`
    is the run that it is made in, and `result` what its server is said to return.
    """

    name: Name
    call: Name | None = None
    resource: Name | None = None
    server: Name | None = None
    prompt: Name | None = None
    method: Method | None = None
    ask: Method | None = None
    cause: Cause = Cause.CALLER
    caller: Annotated[Name | None, Field(alias="as")] = None
    phase: Phase | None = None
    run: RunUnderTest | None = None
    args: dict[str, AnyJson] = Field(default_factory=dict[str, Json])
    schema_hash: Name | None = None
    effect: Effect | None = None
    risk: Risk | None = None
    now: AwareDatetime | None = None
    result: dict[str, AnyJson] | None = None
    expect: Expect

    @property
    def kind(self) -> Kind:
        """What the case is about."""
        if self.resource is not None:
            return Kind.RESOURCE
        return Kind.TOOL if self.prompt is None else Kind.PROMPT

    @property
    def key(self) -> str:
        """The name of what the case is about, as rules know it."""
        return self.call or self.resource or self.prompt or ""

    @model_validator(mode="after")
    def _one_target(self) -> "CaseModel":
        named = [each for each in (self.call, self.resource, self.prompt) if each is not None]
        if len(named) != 1:
            raise ValueError("should be about one `call`, `resource` or `prompt`")
        if self.server is not None and self.resource is None:
            raise ValueError("`server` goes with `resource`; other names have it in them")
        return self

    @model_validator(mode="after")
    def _one_method(self) -> "CaseModel":
        if self.method is not None and self.ask is not None:
            raise ValueError("has a `method` and an `ask`; remove one")
        if self.method is not None and self.method not in OF[self.kind]:
            raise ValueError(f"is about a {self.kind}, and `{self.method}` never is; name another")
        if self.ask is not None and not self.ask.is_ask:
            raise ValueError(f"no server asks `{self.ask}`; name it as `method`")
        return self

    @model_validator(mode="after")
    def _cause_of_kind(self) -> "CaseModel":
        if self.cause is not Cause.CALLER and (self.kind is not Kind.TOOL or self.method):
            raise ValueError("has a `cause`, and the gateway by itself only calls tools; remove it")
        return self

    @model_validator(mode="after")
    def _result_of_a_tool(self) -> "CaseModel":
        if (self.result is None) is not (self.expect.result is None):
            raise ValueError(
                "needs a `result`, and in `expect` what leaves of it; add the other one"
            )
        if self.result is not None and (self.call is None or self.method or self.ask):
            raise ValueError("has a `result`, which only calls of tools have here; remove it")
        return self

    @model_validator(mode="after")
    def _one_phase(self) -> "CaseModel":
        if self.run is not None and self.run.phase is not None and self.phase is not None:
            raise ValueError("has a `phase` beside that of its `run`; remove one")
        if self.run is None and self.expect.phase is not None:
            raise ValueError("expects a `phase`, and has no `run` that could be in it; add one")
        return self


class PolicyTestModel(Model):
    """One file of cases; without `policies` or `tools` it is about those in force."""

    api_version: Annotated[Literal["weighbridge/v1"], Field(alias="apiVersion")] = API_VERSION
    kind: Literal["PolicyTest"] = "PolicyTest"
    policies: tuple[Name, ...] = ()
    tools: NameOrNames = ()
    now: AwareDatetime = _NOW
    callers: dict[Name, Caller]
    defaults: Defaults = Defaults()
    tests: Annotated[tuple[CaseModel, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUnderTest:
    """A call that a case makes; whoever decides gets this and nothing else."""

    contract: Contract
    actor: Actor
    phase: Phase
    arguments: JsonObject
    now: datetime  # UTC
    pin: str  # of the definition that the server is said to publish
    run_id: str
    effect: Effect
    risk: Risk
    method: Method = Method.CALL_TOOL
    kind: Kind = Kind.TOOL
    server: str = ""  # of a resource; other names have it in them
    cause: Cause = Cause.CALLER
    bound: Bound | None = None  # its run, and how it was found
    result: JsonObject | None = None  # the structured content that its server is said to return

    @property
    def server_name(self) -> str:
        """The server that the call goes to, as far as it is known."""
        return self.server if self.kind is Kind.RESOURCE else self.contract.tool.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCase:
    """One case with its place, ready to run; `fault` says why it can't be."""

    name: str
    place: str  # file:line
    expect: Expect
    call: CallUnderTest | None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """One file of cases; `policies` and `tools` are names of other files, relative to it."""

    name: str
    policies: tuple[str, ...]
    tools: tuple[str, ...]
    content: PolicyTestModel
    document: yamltext.YamlDocument

    def cases(
        self, contracts: Mapping[str, Contract], templates: Known | None = None
    ) -> tuple[PolicyCase, ...]:
        """Return the cases about tools with these contracts, by `server.name`."""
        return tuple(
            _case(self, index, contracts, templates or {})
            for index in range(len(self.content.tests))
        )


def load(text: str, *, file: str) -> CaseFile:
    """Read one file of cases; raises `FileError` with every fault and its mend."""
    document = yamltext.load(text, file=file)
    content = yamltext.validate(PolicyTestModel, document, file=file)
    errors = [
        FileError(
            f"no caller `{caller}`{suggest(caller, [*content.callers]) or _ADD}",
            file=file,
            line=document.place(("tests", index))[0],
            column=document.place(("tests", index))[1],
        )
        for index, each in enumerate(content.tests)
        if (caller := each.caller or content.defaults.caller or "") not in content.callers
    ]
    if errors:
        raise FilesError(errors)
    return CaseFile(
        name=file,
        policies=content.policies,
        tools=content.tools,
        content=content,
        document=document,
    )


def read_only(key: str) -> Contract:
    """Return what counts as the contract of a resource or prompt, which nobody has to write."""
    return Contract(tool=key, pin="", effect=Effect.READ, risk=Risk.LOW, definition={})


def _case(
    file: CaseFile, index: int, contracts: Mapping[str, Contract], templates: Known
) -> PolicyCase:
    each = file.content.tests[index]
    line, _ = file.document.place(("tests", index))
    contract = contracts.get(each.key) if each.kind is Kind.TOOL else read_only(each.key)
    fault = "" if contract else f"no tool `{each.key}`{suggest(each.key, [*contracts])}"
    fault = fault or (each.run.fault(templates) if each.run is not None else "")
    return PolicyCase(
        name=each.name,
        place=f"{file.name}:{line}",
        expect=each.expect,
        call=_call(file.content, each, contract, templates) if contract else None,
        fault=fault,
    )


def _call(
    content: PolicyTestModel, each: CaseModel, contract: Contract, templates: Known
) -> CallUnderTest:
    actor = _actor(content.callers[each.caller or content.defaults.caller or ""])
    phase = each.phase or content.defaults.phase
    now = (each.now or content.now).astimezone(UTC)
    bound = each.run.bound(actor, phase, templates, now) if each.run is not None else None
    return CallUnderTest(
        contract=contract,
        actor=actor,
        phase=bound.run.phase if bound is not None else phase,
        arguments=each.args,
        now=now,
        pin=each.schema_hash or contract.pin,
        run_id=bound.run.run_id if bound is not None else content.defaults.run,
        effect=each.effect or contract.effect,
        risk=each.risk or contract.risk,
        method=each.ask or each.method or USE[each.kind],
        kind=each.kind,
        server=each.server or "",
        cause=each.cause,
        bound=bound,
        result=each.result,
    )


def _actor(caller: Caller) -> Actor:
    return Actor(
        user=caller.user,
        tenant=caller.tenant,
        roles=frozenset(caller.roles),
        scopes=frozenset(caller.scopes),
        client=caller.client,
        method=caller.authenticated_by,
        issuer="policy-test",
    )
