"""Callers that can be asked, for tests of the relay."""

from dataclasses import dataclass, field

from gateway.errors import AskRefused
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.relay import Inquiry

ALL: JsonObject = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}, "x": {"y": 1}}


@dataclass
class Asked:
    """A caller that answers questions as it was told, and keeps what it heard."""

    answer: JsonObject | AskRefused = field(default_factory=dict[str, Json])
    capabilities: JsonObject = field(default_factory=lambda: dict(ALL))
    era: Era = Era.LEGACY
    protocol_version: str = "2025-11-25"
    transport: str = "http"
    wants_progress: bool = False
    log_level: str = ""
    session: str = "s1"
    heard: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    said: list[str] = field(default_factory=list[str])  # the words of progress

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.heard.append(("progress", progress))
        self.said.append(message or "")

    async def log(self, params: JsonObject) -> None:
        self.heard.append(("log", params))

    async def completed(self, params: JsonObject) -> None:
        self.heard.append(("completed", params))

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        self.heard.append((method, params))
        if isinstance(self.answer, AskRefused):
            raise self.answer
        return self.answer


@dataclass
class Turns:
    """Keeps the turns that a ticket would."""

    kept: list[tuple[JsonObject, JsonObject | None, str]] = field(
        default_factory=list[tuple[JsonObject, JsonObject | None, str]]
    )

    inquiries: list[Inquiry] = field(default_factory=list[Inquiry])
    is_full: bool = False

    def inquired(self, inquiry: Inquiry) -> bool:
        if not self.is_full:
            self.inquiries.append(inquiry)
        return not self.is_full

    @property
    def outcomes(self) -> list[str]:
        return [inquiry.outcome.value for inquiry in self.inquiries]

    def sampled(self, request: JsonObject, result: JsonObject | None, error: str) -> None:
        self.kept.append((request, result, error))
