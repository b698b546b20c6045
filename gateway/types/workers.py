"""A worker: one of several processes that serve one port (`serve --workers`)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Which of how many; numbers begin at 1."""

    number: int
    of: int

    @property
    def mark(self) -> str:
        """How ids and tokens say whose they are."""
        return f"w{self.number}"

    def __str__(self) -> str:
        """Return it in words for people."""
        return f"{self.number} of {self.of}"
