"""Whether the gateway can do its work."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether the gateway can do its work; the texts are short and name no secret."""

    ready: bool
    reasons: tuple[str, ...] = ()  # why it can't
    warnings: tuple[str, ...] = ()  # what only some callers meet: no reason to send them elsewhere
