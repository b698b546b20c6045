"""A proposed call, and who proposes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.types.actors import Actor
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation
from gateway.types.remembered import by_identity
from gateway.types.runs import Place
from gateway.types.tools import Sensitivity
from gateway.types.values import value


class Era(StrEnum):
    """The two families of MCP revisions: with a handshake, and stateless since 2026-07-28."""

    LEGACY = "legacy"
    MODERN = "modern"


class Method(StrEnum):
    """The requests of MCP that are weighed, by the names they have on the wire."""

    CALL_TOOL = "tools/call"
    READ_RESOURCE = "resources/read"
    SUBSCRIBE = "resources/subscribe"
    GET_PROMPT = "prompts/get"
    COMPLETE = "completion/complete"
    GET_TASK = "tasks/get"
    UPDATE_TASK = "tasks/update"
    CANCEL_TASK = "tasks/cancel"
    # What a server asks of the caller whose request it is working on:
    ELICIT = "elicitation/create"
    SAMPLE = "sampling/createMessage"
    LIST_ROOTS = "roots/list"
    LOG = "notifications/message"

    @property
    def is_task(self) -> bool:
        """Whether it is about work that goes on after its call was answered."""
        return self in _OF_TASKS

    @property
    def is_ask(self) -> bool:
        """Whether it goes from a server to a client."""
        return self in _ASKS


_OF_TASKS = frozenset({Method.GET_TASK, Method.UPDATE_TASK, Method.CANCEL_TASK})
_HAVE_ARGUMENTS = frozenset({Method.CALL_TOOL, Method.GET_PROMPT})
_ASKS = frozenset({Method.ELICIT, Method.SAMPLE, Method.LIST_ROOTS, Method.LOG})


class AuthMethod(StrEnum):
    """How a principal proved who it is."""

    LOCAL = "local"  # a child process of the host: the operator's config says who acts
    API_KEY = "api_key"
    JWT = "jwt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A verified credential; nothing in here comes from arguments or unauthenticated headers."""

    issuer: str
    subject: str
    client: str
    tenant: str
    user: str
    roles: frozenset[str]
    scopes: frozenset[str]
    method: AuthMethod
    owner: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """What stays the same when a credential is renewed: who may come back to an open call."""
    actor: Actor = field(init=False, compare=False, repr=False)
    """Who acts, for whatever is asked by this credential."""

    def __post_init__(self) -> None:
        """Make both once: every call asks for them, and a principal is kept for many calls."""
        owner = (
            *(self.issuer, self.subject, self.client, self.tenant, self.user),
            str(self.method),
        )
        object.__setattr__(self, "owner", owner)
        actor = Actor(
            user=self.user,
            tenant=self.tenant,
            roles=self.roles,
            scopes=self.scopes,
            client=self.client,
            method=self.method.value,
            issuer=self.issuer,
        )
        object.__setattr__(self, "actor", actor)


class Caller(Protocol):
    """The way back to the client while its call is under way."""

    @property
    def era(self) -> Era:
        """The family of the revision that the client speaks."""
        ...

    @property
    def protocol_version(self) -> str:
        """The MCP revision of the request, such as `2026-07-28`."""
        ...

    @property
    def transport(self) -> str:
        """`http` or `stdio`."""
        ...

    @property
    def wants_progress(self) -> bool:
        """Whether the request carries a progress token."""
        ...

    @property
    def capabilities(self) -> JsonObject:
        """What the client declared that it can do, as received."""
        ...

    @property
    def log_level(self) -> str:
        """From which level on the client wants a server's log messages; empty: not told."""
        ...

    @property
    def session(self) -> str:
        """The session of the handshake era, or an empty text for stateless requests."""
        ...

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress; does nothing when the client did not ask for it."""
        ...

    async def log(self, params: JsonObject) -> None:
        """Hand on a log message of a server (`notifications/message`), as well as it goes."""
        ...

    async def completed(self, params: JsonObject) -> None:
        """Tell that an elicitation is done (`notifications/elicitation/complete`).

        Also after the request, as long as the session is open. Does nothing in the stateless era,
        which has no such news.
        """
        ...

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        """Ask the client while its request is under way, and return its result.

        Only in the handshake era; raises AskRefused when it can't, won't or doesn't answer.
        """
        ...


class Nobody:
    """A caller that nothing can be told to: for listing, tests and explanations."""

    era = Era.MODERN
    protocol_version = ""
    transport = ""
    wants_progress = False
    log_level = ""
    session = ""

    @property
    def capabilities(self) -> JsonObject:
        """Nobody can do nothing."""
        return {}

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell nobody."""
        del progress, total, message

    async def log(self, params: JsonObject) -> None:
        """Tell nobody."""
        del params

    async def completed(self, params: JsonObject) -> None:
        """Tell nobody."""
        del params

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        """Never called: nobody declares anything that could be asked."""
        del params, within_s
        raise NotImplementedError(method)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceContext:
    """W3C trace context: lower-case hex ids of 32 and 16 digits, flags of one byte."""

    trace_id: str
    span_id: str
    sampled: bool
    state: str = ""


def actor_of(principal: Principal) -> Actor:
    """Say who acts: from the verified credential and from nothing else."""
    return principal.actor


@by_identity(1024)  # calls that nobody makes are judged by the thousand for the same few
def principal_of(actor: Actor) -> Principal:
    """Return a principal that acts as `actor`, for calls that are judged and never sent."""
    return Principal(
        issuer=actor.issuer,
        subject=actor.user,
        client=actor.client,
        tenant=actor.tenant,
        user=actor.user,
        roles=actor.roles,
        scopes=actor.scopes,
        method=AuthMethod.LOCAL,
    )


@value
class ProposedCall:
    """What a model asked for; nothing in it has been checked but the credential."""

    call_id: str
    name: str  # of the tool or prompt, the URI of the resource, the id of the task
    arguments: JsonObject
    meta: JsonObject  # the request's `_meta`, hop-owned keys included
    principal: Principal
    caller: Caller
    received_at: datetime  # UTC
    request_id: str = ""  # the JSON-RPC id as text, for spans and events only
    trace_header: str = ""  # the HTTP `traceparent`; `_meta.traceparent` wins over it
    idempotency_key: str | None = None  # the HTTP header; one in `_meta` has to be the same
    peer: str = ""  # address of the client, for spans and events only
    client_name: str = ""  # what the client calls itself: a hint for comfort, never for a right
    input_error: str = ""  # what is wrong with the arguments as text, when they can't be read
    run_header: str = ""  # the HTTP header that names a run; one in `_meta` has to be the same
    method: Method = Method.CALL_TOOL
    params: JsonObject = field(default_factory=dict[str, Json])  # whole, as received
    # Set inside only, for calls that the gateway makes for the sake of an operation:
    operation: Operation | None = None  # one whose row is there already: what undoes another
    continues: bool = False  # it answers its server's questions, by a `requestState` of ours
    rounds: int = 0  # how often its caller has come back for a decision by `requestState`
    concealed: Mapping[str, Sensitivity] = field(default_factory=dict[str, Sensitivity])
    """Values that it was made with and that may stand in no event of it, as texts."""
    cause: str = ""  # one of `causes.OWN`
    parent: str = ""  # the call for whose sake it is made
    run: Place | None = None  # the run of the operation that it is about, and how that was found

    @property
    def asked(self) -> JsonObject:
        """What is asked for, as its digest has it: the arguments, or whatever the method has."""
        if self.method in _HAVE_ARGUMENTS:
            return self.arguments
        return {key: value for key, value in self.params.items() if key != "_meta"}
