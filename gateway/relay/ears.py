"""A caller as the server that works on its request gets to hear it."""

import logging
from dataclasses import dataclass

from gateway import jsontext
from gateway.case import Case
from gateway.errors import AskFailed, AskRefused, AskUnanswered
from gateway.relay.questions import SERVER, Question, QuestionDenied, Questions
from gateway.types.calls import Caller, Era, Method
from gateway.types.json import JsonObject
from gateway.types.relay import AskOutcome, Inquiry, Outbound, Turns

_log = logging.getLogger("gateway.relay")


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
    def _is_filtered(self) -> bool:
        return self.case.decision.output.holds_back

    @property
    def wants_progress(self) -> bool:
        """Whether the caller asked for progress."""
        return self._caller.wants_progress

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Hand progress on; its words only where nothing of the result is held back."""
        await self._caller.progress(progress, total, None if self._is_filtered else message)

    async def log(self, params: JsonObject) -> None:
        """Hand a log message on, if policy lets this server log to this caller.

        None that could tell of what is held back of the result.
        """
        if not self._is_filtered and self.questions.may_log(self.case, params):
            await self._caller.log(params)

    async def completed(self, elicitation_id: str) -> None:
        """Tell the caller that an elicitation of its server is done, if its era has such news.

        Policy has allowed the question; that it has come to its end says no more than that.
        """
        server = self.case.tool.server
        if self._caller.era is Era.MODERN:
            _log.info("server %s: told a stateless caller's elicitation done; dropped", server)
        elif self.questions.may_elicit(self.case):
            told: JsonObject = {"elicitationId": elicitation_id, "_meta": {SERVER: server}}
            await self._caller.completed(told)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the caller what its server wants to know; raises AskRefused."""
        question = self._admitted(method, params)
        try:
            result = await self._put(question)
        except BaseException as ended:
            self._note(question.became(_end_of(ended), error_code=_code_of(ended)))
            if question.method is Method.SAMPLE:
                self.turns.sampled(question.params, None, _told_of(ended))
            raise
        self._note(question.became(AskOutcome.of(result), result=result))
        if question.method is Method.SAMPLE:
            self.turns.sampled(question.params, result, "")
        return result

    def _admitted(self, method: str, params: JsonObject) -> Question:
        try:
            return self.questions.admit(self.case, method, params)
        except QuestionDenied as denied:
            self._note(denied.question.became(AskOutcome.FORBIDDEN))
            raise

    async def _put(self, question: Question) -> JsonObject:
        if len(jsontext.dump(question.params)) > self.ask_bytes:
            raise AskRefused(-32602, f"the question has more than {self.ask_bytes} bytes")
        if not self._note(question.became(AskOutcome.ASKED)):
            raise AskRefused(-32603, "the question could not be recorded")
        shown = self.questions.shown(self.case, question)
        return await self._caller.ask(question.method, shown, within_s=self.ask_s)

    def _note(self, inquiry: Inquiry) -> bool:
        return self.turns.inquired(inquiry)


def _end_of(ended: BaseException) -> AskOutcome:
    """Say why a question has no answer."""
    match ended:
        case AskUnanswered():
            return AskOutcome.TIMEOUT
        case AskFailed():
            return AskOutcome.ERROR
        case AskRefused():
            return AskOutcome.UNSENT
        case _:
            return AskOutcome.WITHDRAWN


def _code_of(ended: BaseException) -> int | None:
    return ended.code if isinstance(ended, AskFailed) else None


def _told_of(ended: BaseException) -> str:
    match ended:
        case AskFailed():
            return ended.summary
        case AskRefused():
            return ended.message
        case _:
            return "the question was given up"
