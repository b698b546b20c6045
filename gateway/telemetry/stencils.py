"""What spans and metrics of calls that are alike have in common, found out once.

A call that is known to be like an earlier one brings its ids and its times, and nothing else has to
be looked at: neither which spans and labels are its own, nor which it shares.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from gateway.telemetry.facts import ApprovalFacts, CallFacts
from gateway.telemetry.metrics import Tick
from gateway.types.calls import TraceContext


class Spanned(Protocol):
    """What the spans of a usual call are written from, beside what it shares with others."""

    @property
    def trace_id(self) -> str:
        """Of all three spans."""
        ...

    @property
    def server_span(self) -> str:
        """The id of the span of the whole call."""
        ...

    @property
    def authorize_span(self) -> str:
        """The id of the span of its judgement."""
        ...

    @property
    def client_span(self) -> str:
        """The id of the span of the request to its server."""
        ...

    @property
    def parent(self) -> TraceContext | None:
        """The caller's span."""
        ...

    @property
    def received_ns(self) -> int:
        """When the call came, in nanoseconds since the epoch, as all times here."""
        ...

    @property
    def judged_ns(self) -> int:
        """When it was judged; 0: it was not."""
        ...

    @property
    def sent_ns(self) -> int:
        """When it was sent; 0: it was not."""
        ...

    @property
    def answered_ns(self) -> int:
        """When its server answered; 0: it did not."""
        ...

    @property
    def closed_ns(self) -> int:
        """When it ended."""
        ...

    @property
    def call_id(self) -> str:
        """The id of the call."""
        ...

    @property
    def run_id(self) -> str:
        """The id of its run; empty: it has none."""
        ...

    @property
    def request_id(self) -> str:
        """The id of its request."""
        ...

    @property
    def peer(self) -> str:
        """The address of its caller."""
        ...

    @property
    def digest(self) -> str:
        """The digest of its arguments."""
        ...

    @property
    def result_size(self) -> int:
        """The bytes of its result."""
        ...


Write: TypeAlias = Callable[[Spanned], Sequence[bytes]]


@dataclass(slots=True, eq=False)
class Stencil:
    """What telemetry makes of calls that are alike; `facts` are those of one of them."""

    facts: CallFacts
    write: Write | None  # None: no spans are exported
    counted: object = None  # where they are counted: kept, and looked at, by the metrics' thread


class Timed(NamedTuple):
    """One more call of a kind, as metrics see it; times as above."""

    stencil: Stencil
    received_ns: int
    judged_ns: int
    sent_ns: int
    answered_ns: int
    closed_ns: int


Measured: TypeAlias = CallFacts | Timed | ApprovalFacts | Tick
"""What is counted."""
