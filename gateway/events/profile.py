"""What each sink may hold."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # looked up by: a hash of all is slow
class Profile:
    """Whether personal data goes, the form of markers, and the caps; each is only itself."""

    name: str
    personal: bool  # personal forms, and looser forms of secrets, are hidden too
    objects: bool  # whole values become marker objects; else texts, so that types hold
    max_text: int = 16 << 10  # characters of one text
    max_depth: int = 32
    max_nodes: int = 10_000


# For events, logs and spans: what is kept.
EVENTS: Final = Profile(name="events", personal=True, objects=True)
# For results: what an agent has to work with; sizes are capped elsewhere.
RESULTS: Final = Profile(
    name="results",
    personal=False,
    objects=False,
    max_text=16 << 20,
    max_depth=64,
    max_nodes=1_000_000,
)
