"""Every span attribute there is: names, spans, meanings; nothing else leaves in a span.

Names without `gateway.` are those of the OpenTelemetry GenAI and MCP conventions v0.1.0 (status
Development), written out here because the published constants are marked as moved.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """On which spans a key occurs, and what its value says."""

    on: str
    meaning: str


def _on(on: str, meaning: str) -> Attribute:
    return Attribute(on=on, meaning=meaning)


METHOD: Final = "mcp.method.name"
TOOL: Final = "gen_ai.tool.name"
PROMPT: Final = "gen_ai.prompt.name"
RESOURCE: Final = "mcp.resource.uri"
OPERATION: Final = "gen_ai.operation.name"
ERROR_TYPE: Final = "error.type"
RPC_STATUS: Final = "rpc.response.status_code"
REQUEST_ID: Final = "jsonrpc.request.id"
PROTOCOL: Final = "mcp.protocol.version"
NETWORK: Final = "network.transport"
CLIENT_ADDRESS: Final = "client.address"
CLIENT_PORT: Final = "client.port"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"
USER: Final = "user.id"
ROLES: Final = "user.roles"
DECISION: Final = "gateway.decision"
CODE: Final = "gateway.decision.code"
ENFORCEMENT: Final = "gateway.enforcement"
OBSERVED: Final = "gateway.observed"
RULE: Final = "gateway.policy.rule.id"
REVISION: Final = "gateway.policy.revision"
SHADOW: Final = "gateway.shadow.decision"
SHADOW_RULE: Final = "gateway.shadow.rule.id"
RISK: Final = "gateway.tool.risk"
EFFECT: Final = "gateway.tool.effect"
SCHEMA_HASH: Final = "gateway.tool.schema_hash"
EXPOSED_NAME: Final = "gateway.tool.exposed_name"
SERVER: Final = "gateway.server.name"
RUN: Final = "gateway.run.id"
PHASE: Final = "gateway.run.phase"
TENANT: Final = "gateway.tenant.id"
CALL: Final = "gateway.call.id"
CAUSE: Final = "gateway.cause"
DIGEST: Final = "gateway.arguments.digest"
LIMIT: Final = "gateway.limit.id"
REDACTIONS: Final = "gateway.redactions"
RESULT_SIZE: Final = "gateway.result.size"
STATUS: Final = "gateway.status"
REASON: Final = "gateway.status.code"
EXECUTED: Final = "gateway.executed"
APPROVAL: Final = "gateway.approval.id"
APPROVAL_OUTCOME: Final = "gateway.approval.outcome"
APPROVAL_WAIT: Final = "gateway.approval.wait_s"
APPROVAL_QUORUM: Final = "gateway.approval.quorum"

SPAN_ATTRIBUTES: Final[Mapping[str, Attribute]] = {
    METHOD: _on("SERVER, CLIENT", "what was asked for, such as `tools/call` or `resources/read`"),
    TOOL: _on("all", "the tool's name as its server has it; `_unknown` when no server has it"),
    PROMPT: _on("all", "the prompt's name as its server has it; `_unknown` when no server has it"),
    RESOURCE: _on("all", "the resource's URI as its server has it, redacted"),
    OPERATION: _on("SERVER, CLIENT", "`execute_tool` for `tools/call`; absent otherwise"),
    ERROR_TYPE: _on(
        "SERVER, CLIENT",
        "only after a failure: `tool_error` (the result says `isError`), the downstream's JSON-RPC "
        "code, or our status",
    ),
    RPC_STATUS: _on("CLIENT", "the downstream's JSON-RPC error code, when it answered with one"),
    REQUEST_ID: _on("SERVER", "the id of the client's request, at most 64 characters"),
    PROTOCOL: _on("SERVER, CLIENT", "the MCP revision spoken on that side"),
    NETWORK: _on("SERVER, CLIENT", "`tcp` for Streamable HTTP, `pipe` for stdio"),
    CLIENT_ADDRESS: _on("SERVER", "where the request came from"),
    CLIENT_PORT: _on("SERVER", "the port it came from"),
    SERVER_ADDRESS: _on("CLIENT", "host of the downstream"),
    SERVER_PORT: _on("CLIENT", "port of the downstream"),
    ARGUMENTS: _on("SERVER", "the arguments, redacted; only with `telemetry.capture_content`"),
    USER: _on("SERVER", "a keyed hash of the user, the same for one user within a tenant"),
    ROLES: _on("SERVER", "the user's roles"),
    DECISION: _on("SERVER, INTERNAL", "`allow`, `deny` or `require_approval`"),
    CODE: _on("SERVER, INTERNAL", "the decision's code, such as a rule's own"),
    ENFORCEMENT: _on(
        "INTERNAL",
        "`enforced`: the decision above was carried out; `observed`: it was only recorded",
    ),
    OBSERVED: _on(
        "INTERNAL", "what would have become of the call, such as `deny`, where it was observed"
    ),
    RULE: _on("SERVER, INTERNAL", "the deciding rule"),
    REVISION: _on("SERVER, INTERNAL", "the policy revision that decided"),
    SHADOW: _on("INTERNAL", "what the first shadow rule that disagrees would have decided"),
    SHADOW_RULE: _on("INTERNAL", "that shadow rule"),
    RISK: _on("SERVER, INTERNAL", "risk class of this call"),
    EFFECT: _on("SERVER, INTERNAL", "`read`, `write` or `destructive`"),
    SCHEMA_HASH: _on("SERVER", "the pin of the definition that the server publishes"),
    EXPOSED_NAME: _on("SERVER", "the name that agents see, when it differs"),
    SERVER: _on("all", "the downstream's name in the configuration"),
    RUN: _on("all", "the run that the call belongs to"),
    PHASE: _on("SERVER", "the run's phase when the call came in"),
    TENANT: _on("SERVER, approval", "the tenant"),
    CALL: _on("all", "the call; joins a span to the event log"),
    CAUSE: _on(
        "all",
        "`verification`, `lookup` or `compensation`: why the gateway made the call by itself; "
        "absent for calls of callers",
    ),
    DIGEST: _on("SERVER", "digest of the final arguments"),
    LIMIT: _on("SERVER", "the limit that refused"),
    REDACTIONS: _on("SERVER", "how many values were taken out of the result; absent when none"),
    RESULT_SIZE: _on("CLIENT", "bytes of the downstream's answer"),
    STATUS: _on("SERVER", "how the call ended; see the table of statuses"),
    REASON: _on("SERVER", "why, as a code finer than the status"),
    APPROVAL: _on(
        "SERVER, approval",
        "the request for people's decision that the call made, or was sent under; the same on the "
        "spans of all three",
    ),
    APPROVAL_OUTCOME: _on(
        "approval", "`approved`, `denied`, `expired`, `cancelled` or `superseded`"
    ),
    APPROVAL_WAIT: _on("approval", "seconds from the request to its end"),
    APPROVAL_QUORUM: _on("approval", "how many people it took, or would have"),
    EXECUTED: _on("SERVER", "`yes`, `no` or `unknown`: whether the downstream may have acted"),
}
