"""Events as rows of their table."""

from typing import Final, NamedTuple, cast

from gateway.types.audit import SealedCopy


class EventRow(NamedTuple):  # every call has several: a frozen dataclass takes longer
    """One event as it is stored but for its number, its columns in their order; then its copy."""

    at: int  # microseconds since 1970
    id: str
    kind: str
    stage: str
    tenant: str
    run_id: str
    call_id: str
    tool: str
    actor_user: str
    decision: str
    rule: str
    status: str
    trace_id: str
    body: str
    sealed: SealedCopy | None = None

    @property
    def size(self) -> int:
        """How much memory it takes, near enough, in bytes."""
        return len(self.body) + (len(self.sealed.content) if self.sealed is not None else 0)

    def numbered(self, seq: int) -> tuple[str | int, ...]:
        """Return the values of `COLUMNS`."""
        return (seq, *cast("tuple[str | int, ...]", self[:_OWN]))


_OWN: Final = EventRow._fields.index("sealed")
COLUMNS: Final = ("seq", *EventRow._fields[:_OWN])
