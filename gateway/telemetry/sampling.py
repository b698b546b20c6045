"""Which traces are exported: the samplers of `OTEL_TRACES_SAMPLER`, decided before any span is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.types.calls import TraceContext

DEFAULT_SAMPLER: Final = "parentbased_always_on"
# Name → (follows the parent's decision, share of traces without one; None: the argument says).
SAMPLERS: Final[Mapping[str, tuple[bool, float | None]]] = {
    "always_on": (False, 1.0),
    "always_off": (False, 0.0),
    "traceidratio": (False, None),
    "parentbased_always_on": (True, 1.0),
    "parentbased_always_off": (True, 0.0),
    "parentbased_traceidratio": (True, None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler:
    """One decision a trace, the same in every process that sees the trace id."""

    follows_parent: bool = True
    ratio: float = 1.0  # from 0 to 1

    def samples(self, trace_id: str, parent: TraceContext | None) -> bool:
        """Say whether spans of this trace are exported."""
        if self.follows_parent and parent is not None:
            return parent.sampled
        if self.ratio >= 1.0:
            return True
        # The low 64 bits against a bound, as the OpenTelemetry SDKs do it: they agree on a trace.
        return int(trace_id[16:], 16) < round(self.ratio * 2**64)


def sampler_named(name: str, ratio: float) -> Sampler | None:
    """Return the sampler of that name, or None when there is no such sampler."""
    row = SAMPLERS.get(name)
    if row is None:
        return None
    follows_parent, fixed = row
    return Sampler(follows_parent=follows_parent, ratio=ratio if fixed is None else fixed)
