"""The calls over HTTP whose server may ask, and to which of them a message belongs."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.servers.asides import Asides
from gateway.servers.connection import CANCELLED, MESSAGE, NotMcp, Reply
from gateway.servers.elicited import Elicited
from gateway.servers.hearing import Hearing, Rest
from gateway.types.json import JsonObject
from gateway.types.relay import Ear


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Talk:
    """One call under way; without an ear nobody hears what the server says to it."""

    ear: Ear | None
    hearing: Hearing | None


class Talks:
    """The talks of one connection that declares something. `take` gets what belongs to no call."""

    def __init__(
        self, asides: Asides, take: Callable[[JsonObject], None], elicited: Elicited
    ) -> None:
        self.tainted = False  # a question was refused that may belong to a call given up
        self.given_up = False  # a call was given up, and its server may still ask
        self._asides = asides
        self._take = take
        self._elicited = elicited
        self._open: list[Talk] = []

    def begin(self, ear: Ear | None, rest: Rest) -> Talk:
        """Let the server ask the ear of a call; its clock rests meanwhile."""
        hearing = None
        if ear is not None:
            hearing = Hearing(
                ear,
                rest,
                start=self._asides.start,
                answer=lambda reply: self._asides.post_soon(reply, ""),
                elicited=self._elicited,
            )
        talk = Talk(ear=ear, hearing=hearing)
        self._open.append(talk)
        return talk

    def end(self, talk: Talk, reply: Reply | None) -> None:
        """Give up what is still asked: the call has ended."""
        self._open.remove(talk)
        if talk.hearing is not None:
            talk.hearing.end(None if isinstance(reply, NotMcp) else reply)

    def take_loose(self, message: JsonObject) -> None:
        """Take a message that doesn't say to which call it belongs: to the only one, if any."""
        method, params = message.get("method"), message.get("params")
        if method == CANCELLED:
            for each in self._open:
                if each.hearing is not None:
                    each.hearing.withdrawn(params)
            return
        talk = self._open[0] if len(self._open) == 1 and not self.given_up else None
        if method == "ping" or talk is None or talk.ear is None or talk.hearing is None:
            self.tainted |= "id" in message and method != "ping" and self.given_up
            self._take(message)
        elif "id" in message:
            talk.hearing.asked(message)
        elif method == MESSAGE and isinstance(params, dict):
            ear = talk.ear
            self._asides.start_some(lambda: ear.log(params))
        else:
            self._take(message)
