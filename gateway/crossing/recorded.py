"""The answer of an operation that has ended, as it may be told today: the one way out of the store.

Whoever gets a recorded answer gets it from here: who repeats a call, who has joined one, who comes
back for one that was held, and who asks after one as a task.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gateway import jsontext
from gateway.case import Case
from gateway.errors import JsonError
from gateway.events.envelope import timestamp
from gateway.operations import again, refusals
from gateway.results import kept, minimise
from gateway.store.times import moment
from gateway.store.vault import Vault, VaultBroken
from gateway.types.guarantees import Repeat
from gateway.types.json import Json
from gateway.types.operations import KeySource, Operation, OpState
from gateway.types.outcomes import Answer, Refusal
from gateway.types.own import Own
from gateway.types.repeats import KEY

_log = logging.getLogger("weighbridge")

_FAILED: Final = frozenset({OpState.FAILED_FINAL, OpState.FAILED_RETRYABLE})
_ON_PURPOSE: Final = {
    Repeat.DENY: "the contract lets nobody send it again unchanged before that "
    "(`idempotency.repeat`)",
    Repeat.ALLOW: f"`{Own.REPEAT}`, where that is listed, has it sent again unchanged, and so has "
    f'its host by `_meta["{KEY}"]`',
    Repeat.APPROVE: f"`{Own.REPEAT}`, where that is listed, has a person asked to send it again "
    f'unchanged, and so has its host by `_meta["{KEY}"]`',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Opens what operations keep of their answers."""

    vault: Vault
    leaving: Callable[[Case, Answer | Refusal], Answer | Refusal]
    """Let through of an outcome that was kept what may leave today."""

    def told(self, case: Case, operation: Operation) -> Answer | Refusal:
        """Return the answer: what is true of it today, without what today's rules keep back.

        `case` is the one who gets it, judged by the rules in force.
        """
        outcome, output = self._kept(operation)
        told = again.told(operation, outcome)
        now = minimise.of_case(case.decision.output, case.contract.sensitive_results)
        return told if output == minimise.fingerprint(now) else self.leaving(case, told)

    def repeated(self, case: Case, operation: Operation, *, has_joined: bool) -> Answer | Refusal:
        """Return it to a call that is not sent because the same was made before.

        A model that repeats a failed call takes the error for a new one. Who gave a key of his own
        gets the same content each time, and so does who waited for the same call (`has_joined`).
        """
        told = self.told(case, operation)
        is_asked_for = has_joined or operation.key.source is KeySource.CALLER
        if operation.state in _FAILED and not is_asked_for:
            told = _explained(told, case, operation)
        return replace(told, replayed=True)

    def _kept(self, operation: Operation) -> tuple[Answer | Refusal, Json]:
        """Return an outcome, and by what it was minimised."""
        if not operation.outcome:  # it was erased, by a shredding say
            return refusals.outcome_lost(), None
        try:
            sealed = self.vault.open(operation.tenant, operation.op_id, operation.outcome)
            content = jsontext.parse_result(sealed)
            body = content if isinstance(content, dict) else {}
            return kept.from_json(body), body.get(kept.OUTPUT)
        except (VaultBroken, JsonError, kept.NotKept) as error:
            _log.error("%s: its outcome can't be repeated: %s", operation.op_id, error)
            return refusals.outcome_lost(), None


def _explained(told: Answer | Refusal, case: Case, operation: Operation) -> Answer | Refusal:
    """Say beside a failure that it is one of before, how long it stands, and how to go on."""
    until = timestamp(moment(operation.replay_until))
    way = _ON_PURPOSE[case.contract.idempotency.repeat]
    said = (
        f"the same call was sent before and failed (operation `{operation.op_id}`); this is its "
        f"answer of then, and nothing was sent now"
    )
    following = (
        f"if the error names a mistake, call with corrected arguments: that is another call; "
        f"unchanged, this one gets the same answer until {until}, and is sent again after that; "
        f"{way}"
    )
    if isinstance(told, Refusal):
        return replace(told, reason=f"{told.reason}; {said}", next=following)
    content = told.result.get("content")
    blocks: list[Json] = [*content] if isinstance(content, list) else []
    blocks.append({"type": "text", "text": f"[replayed] {said}. Next: {following}."})
    return replace(
        told, result={**told.result, "content": blocks}, notes=(*told.notes, said, following)
    )
