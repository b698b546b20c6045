"""What is said of one public case."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case; `source` is a public issue as `owner/repo#n`."""

    sentence: str
    source: str
    left: str = ""  # why it does not hold in full yet
    note: str = ""  # how the outcome differs in form from what others expect
