"""What an operation has left behind for its way back: what was asked for, and what came of it."""

from dataclasses import dataclass
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError, WeighbridgeError
from gateway.operations import undo
from gateway.operations.templates import Known, of_result
from gateway.results import kept
from gateway.store.vault import Vault, VaultBroken
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation
from gateway.types.outcomes import Answer

RECEIVED: Final = "received"  # member of what is kept: the result as its server sent it


class Gone(WeighbridgeError):
    """Something of an operation is not kept any more, or can't be read here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """Opens what operations keep sealed."""

    vault: Vault

    def asked(self, op: Operation) -> JsonObject:
        """Return the `arguments` and the `principal` of an operation; raises `Gone`."""
        return self._opened(op, op.key.key, op.arguments, "what it was asked for")

    def known(self, op: Operation) -> Known:
        """Return what references of its way back stand for; raises `Gone`."""
        arguments = self.asked(op).get("arguments")
        body = self._opened(op, op.op_id, op.outcome, "its outcome") if op.outcome else {}
        values = body.get(undo.CAPTURED)
        names = {"id": op.op_id, "key": op.downstream_key}
        return Known(
            args=arguments if isinstance(arguments, dict) else {},
            result=undo.restored(_data(body), values if isinstance(values, dict) else {}),
            old=body.get(undo.OLD),
            op={name: value for name, value in names.items() if value},
        )

    def received(self, op: Operation) -> tuple[JsonObject | None, Json]:
        """Return the result as its server sent it, while checks need it, and what was there before.

        None when it is not kept.
        """
        try:
            body = self._opened(op, op.op_id, op.outcome, "its outcome") if op.outcome else {}
        except Gone:
            return None, None
        result = body.get(RECEIVED)
        return (result if isinstance(result, dict) else None), body.get(undo.OLD)

    def _opened(self, op: Operation, place: str, sealed: str, what: str) -> JsonObject:
        try:
            body = jsontext.parse_result(self.vault.open(op.tenant, place, sealed))
        except (VaultBroken, JsonError) as error:
            raise Gone(f"{what} is not kept any more, or can't be read") from error
        return body if isinstance(body, dict) else {}


def _data(body: JsonObject) -> Json:
    """Return the data of a kept answer; a refusal has none."""
    try:
        outcome = kept.from_json(body)
    except kept.NotKept:
        return None
    return of_result(outcome.result) if isinstance(outcome, Answer) else None
