"""What was used for runs since their rows were last written: counters, which only grow."""

from dataclasses import dataclass, field

from gateway.store.engine import Parameters


@dataclass(slots=True)
class _Use:
    """What happened in one run; times are microseconds since 1970."""

    active_at: int = 0
    calls: int = 0
    tokens: int = 0


@dataclass(slots=True)
class Touched:
    """Notes of calls and tokens, by run, in the memory of one process."""

    _uses: dict[str, _Use] = field(default_factory=dict[str, _Use])

    def note(self, run_id: str, at: int, *, calls: int, tokens: int) -> None:
        """Add what was used for a run."""
        use = self._uses.setdefault(run_id, _Use())
        use.active_at = max(use.active_at, at)
        use.calls += calls
        use.tokens += tokens

    def taken(self) -> "Touched":
        """Return all that was noted, and begin anew."""
        noted, self._uses = self._uses, {}
        return Touched(noted)

    def take_back(self, noted: "Touched") -> None:
        """Note once more what could not be written."""
        for run_id, use in noted._uses.items():
            self.note(run_id, use.active_at, calls=use.calls, tokens=use.tokens)

    def rows(self) -> list[Parameters]:
        """Return what is to be added to the rows, in the order of their ids."""
        return [
            {
                "run_id": run_id,
                "active_at": use.active_at,
                "calls": use.calls,
                "tokens": use.tokens,
            }
            for run_id, use in sorted(self._uses.items())
        ]
