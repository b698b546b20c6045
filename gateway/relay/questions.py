"""What a server may ask of a caller: what the caller declared, as far as a rule allows it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.case import Case
from gateway.errors import AskRefused
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import Json, JsonObject
from gateway.types.relay import AskOutcome, Inquiry

SERVER: Final = "weighbridge/server"  # key in `_meta` of a question
METHOD_NOT_FOUND: Final = -32601  # JSON-RPC: what a client answers that lacks the capability

CAPABILITY_OF: Final[Mapping[Method, str]] = {
    Method.ELICIT: "elicitation",
    Method.SAMPLE: "sampling",
    Method.LIST_ROOTS: "roots",
}
_METHOD_OF: Final = {capability: method for method, capability in CAPABILITY_OF.items()}
_WHOLE: Final[Mapping[Method, JsonObject]] = {
    Method.ELICIT: {"form": {}, "url": {}},
    Method.SAMPLE: {},
    Method.LIST_ROOTS: {},
}


def capabilities_for(methods: Iterable[Method]) -> JsonObject:
    """Return what a client declares that can be asked all of this."""
    return {CAPABILITY_OF[each]: _WHOLE[each] for each in methods if each in CAPABILITY_OF}


class QuestionDenied(AskRefused):
    """No rule lets the server ask this; the server is told what a client without it would say."""

    def __init__(self, question: "Question") -> None:
        super().__init__(METHOD_NOT_FOUND, "the gateway's policy does not allow this question")
        self.question = question


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of a server, and what policy says to it."""

    method: Method
    params: JsonObject
    decision: Decision

    def became(
        self,
        outcome: AskOutcome,
        *,
        key: str = "",
        result: JsonObject | None = None,
        error_code: int | None = None,
    ) -> Inquiry:
        """Return what the event log gets to know."""
        return Inquiry(
            outcome=outcome,
            method=self.method,
            params=self.params,
            decision=self.decision,
            result=result,
            error_code=error_code,
            key=key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Judges what servers ask."""

    allowed: Callable[[Case], frozenset[Method]]
    """Which kinds some rule could allow, before a question is known."""
    decide: Callable[[Case, Method, JsonObject], Decision]
    leads: bool = True
    """Whether a person is told in words which server asks; it need not be where there is one."""
    observes: bool = False
    """Whether what rules say of a question is only recorded."""

    def shared(self, case: Case) -> JsonObject:
        """Return the caller's capabilities as far as the server may make use of them."""
        declared = case.call.caller.capabilities
        if not declared:
            return {}
        if self.observes:
            return declared
        allowed = self.allowed(case)
        return {
            name: value
            for name, value in declared.items()
            if name not in _METHOD_OF or _METHOD_OF[name] in allowed
        }

    def log_level(self, case: Case) -> str:
        """Return the level that the caller asked for, if its server may log to it at all."""
        level = case.call.caller.log_level
        return level if level and self.hears_logs(case) else ""

    def hears_logs(self, case: Case) -> bool:
        """Say whether log messages of the server may reach the caller at all."""
        return self.observes or Method.LOG in self.allowed(case)

    def asks_any(self, case: Case) -> bool:
        """Say whether the server may come with a question that the caller can be asked."""
        asked = [_METHOD_OF[name] for name in case.call.caller.capabilities if name in _METHOD_OF]
        return bool(asked) and (self.observes or not self.allowed(case).isdisjoint(asked))

    def may_elicit(self, case: Case) -> bool:
        """Say whether the server may send the caller to a URL at all."""
        return "elicitation" in self.shared(case)

    def may_log(self, case: Case, params: JsonObject) -> bool:
        """Say whether one log message may reach the caller."""
        allows = self.decide(case, Method.LOG, params).effect is DecisionEffect.ALLOW
        return self.observes or allows

    def admit(self, case: Case, method: Json, params: Json) -> Question:
        """Return a question that the caller can and may be asked; raises AskRefused.

        Of what policy forbids, QuestionDenied is raised, also where the server was not told that
        the caller could be asked.
        """
        try:
            kind = Method(method) if isinstance(method, str) else None
        except ValueError:
            kind = None
        if kind is None or CAPABILITY_OF.get(kind) not in case.call.caller.capabilities:
            raise AskRefused(METHOD_NOT_FOUND, "not offered by this client")
        if params is not None and not isinstance(params, dict):
            raise AskRefused(-32602, "`params` must be an object")
        asked = params or {}
        if asked.get("mode") == "url" and not _visits_urls(case.call.caller.capabilities):
            raise AskRefused(-32602, "the client does not open URLs")  # MCP, client/elicitation
        question = Question(method=kind, params=asked, decision=self.decide(case, kind, asked))
        if question.decision.effect is not DecisionEffect.ALLOW and not self.observes:
            raise QuestionDenied(question)
        return question

    def shown(self, case: Case, question: Question) -> JsonObject:
        """Return the params as the caller gets them: with the name of the server that asks."""
        server, params = case.tool.server, question.params
        meta, message = params.get("_meta"), params.get("message")
        told: JsonObject = {**(meta if isinstance(meta, dict) else {}), SERVER: server}
        shown: JsonObject = {**params, "_meta": told}
        if (
            self.leads
            and not self.observes
            and question.method is Method.ELICIT
            and isinstance(message, str)
        ):
            shown["message"] = f"{server} asks: {message}"
        return shown


def _visits_urls(capabilities: JsonObject) -> bool:
    declared = capabilities.get("elicitation")
    return isinstance(declared, dict) and "url" in declared
