"""Open sessions of the handshake era: whose each is, how long it was idle, how many one may have.

A session id is never a credential: a session is found only for the principal that opened it.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from gateway.clock import Clock
from gateway.listen.rpc import RequestId
from gateway.listen.shares import Shares
from gateway.types.calls import Principal

Owner = tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Session:
    """One open session."""

    session_id: str
    owner: Owner
    last_used: float  # monotonic seconds
    serving: int = 0  # HTTP requests, an open event stream included
    # Requests under way, each by the id that the SDK has for it.
    requests: dict[RequestId, RequestId] = field(default_factory=dict[RequestId, RequestId])


class OwnedSessions:
    """The open sessions, each with its owner."""

    def __init__(self, clock: Clock, *, most_of_one: int, idle_s: float) -> None:
        self._clock = clock
        self._most = most_of_one
        self._idle_s = idle_s
        self._opening = Shares(most_of_one)
        self._open: OrderedDict[str, Session] = OrderedDict()  # least recently used first

    def find(self, session_id: str, principal: Principal) -> Session | None:
        """Return a session, for whom it belongs to."""
        session = self._open.get(session_id)
        return session if session is not None and session.owner == principal.owner else None

    def known(self, session_id: str, request_id: str) -> RequestId:
        """Return the id that the SDK has for a request under way, or one that it has for none."""
        session = self._open.get(session_id)
        return session.requests.get(request_id, "") if session is not None else ""

    def all(self) -> list[Session]:
        """Return the open sessions."""
        return list(self._open.values())

    def admit(self, owner: Owner) -> str | None:
        """Count one more that an owner opens; returns which of its sessions has to end for it.

        None stands for a session that may not be opened, an empty text for no session that has to
        end; else it is the owner's longest unused idle one, which counts no more.

        INVARIANT: nothing is waited for here, so that openings at the same time see each other.
        """
        mine = [item for item in self._open.items() if item[1].owner == owner]
        idle = [session_id for session_id, session in mine if not session.serving]
        is_full = len(mine) + self._opening.held(owner) >= self._most
        if (is_full and not idle) or not self._opening.take(owner):
            return None
        if not is_full:
            return ""
        self.forget(idle[0])
        return idle[0]

    def opened(self, session_id: str, owner: Owner) -> None:
        """Keep a session that was admitted."""
        now = self._clock.monotonic()
        self._open[session_id] = Session(session_id=session_id, owner=owner, last_used=now)
        self.not_opened(owner)  # from here on it counts as a session

    def not_opened(self, owner: Owner) -> None:
        """Count one that was admitted no more."""
        self._opening.give_back(owner)

    def forget(self, session_id: str) -> None:
        """Keep a session no longer, as it has ended or is about to."""
        self._open.pop(session_id, None)

    def begin(self, session: Session, request_id: RequestId | None, known: RequestId = "") -> None:
        """Keep a session from being idle while it is served, and the id of a request taken."""
        if request_id is not None:
            session.requests[request_id] = known or request_id
        session.serving += 1

    def end(self, session: Session, request_id: RequestId | None) -> None:
        """Take back what `begin` did."""
        session.serving -= 1
        session.last_used = self._clock.monotonic()
        if request_id is not None:
            session.requests.pop(request_id, None)
        if session.session_id in self._open:
            self._open.move_to_end(session.session_id)

    def expired(self) -> list[str]:
        """Return the sessions that have been idle for too long, and keep them no longer."""
        found = [session.session_id for session in self._idle() if self._left_s(session) <= 0]
        for session_id in found:
            self.forget(session_id)
        return found

    def next_in_s(self) -> float:
        """Return after how many seconds a session may have been idle for too long."""
        oldest = next(iter(self._idle()), None)
        return self._idle_s if oldest is None else max(0.0, self._left_s(oldest))

    def _idle(self) -> list[Session]:
        """Return the sessions that nothing uses, the one used longest ago first."""
        return [session for session in self._open.values() if not session.serving]

    def _left_s(self, session: Session) -> float:
        return session.last_used + self._idle_s - self._clock.monotonic()
