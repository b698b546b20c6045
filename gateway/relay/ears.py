"""A caller as the server that works on its request gets to hear it."""

from dataclasses import dataclass
from typing import Protocol

from gateway import jsontext
from gateway.case import Case
from gateway.errors import AskRefused
from gateway.relay.questions import Questions
from gateway.types.calls import Caller, Method
from gateway.types.json import JsonObject
from gateway.types.relay import Outbound


class Turns(Protocol):
    """The part of a ticket that keeps what models were asked."""

    def sampled(self, request: JsonObject, result: JsonObject | None, error: str) -> None:
        """Keep one turn of the caller's model, or why there was none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerEar:
    """Hands on what one server says to one caller, as far as the caller and policy want it."""

    case: Case
    outbound: Outbound
    questions: Questions
    turns: Turns
    ask_s: float
    ask_bytes: int

    @property
    def _caller(self) -> Caller:
        return self.case.call.caller

    @property
    def wants_progress(self) -> bool:
        """Whether the caller asked for progress."""
        return self._caller.wants_progress

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Hand progress on."""
        await self._caller.progress(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        """Hand a log message on, if policy lets this server log to this caller."""
        if self.questions.may_log(self.case, params):
            await self._caller.log(params)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the caller what its server wants to know; raises AskRefused."""
        question = self.questions.read(method, params, self.outbound.capabilities)
        if len(jsontext.dump(question.params)) > self.ask_bytes:
            raise AskRefused(-32602, f"the question has more than {self.ask_bytes} bytes")
        self.questions.check(self.case, question)
        sampling = question.method is Method.SAMPLE
        try:
            result = await self._caller.ask(question.method, question.params, within_s=self.ask_s)
        except AskRefused as refused:
            if sampling:
                self.turns.sampled(question.params, None, refused.message)
            raise
        if sampling:
            self.turns.sampled(question.params, result, "")
        return result
