"""Events about the gateway itself: what people and servers changed, and who was turned away."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from gateway.types.decisions import Mode
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation, OpState

_TEXT: Final = 1_000
_LISTED: Final = 50


def policy_activated(
    *,
    id: str,
    at: datetime,
    revision: str,
    by: str,
    previous: str = "",
    warnings: int = 0,
    tests: int = 0,
    change: JsonObject | None = None,
) -> Event:
    """Say that another revision is in force, with what was found on the way.

    `change` has the number of causes for which made-up calls are decided another way.
    """
    body: JsonObject = {
        "revision": revision,
        "by": by,
        "from": previous,
        "warnings": warnings,
        "tests": tests,
    }
    if change is not None:
        body["change"] = change
    return _event("policy_activated", id=id, at=at, body=body)


def policy_refused(*, id: str, at: datetime, by: str, errors: Sequence[str]) -> Event:
    """Say that changed files can't be used and the old revision stays in force."""
    return _event("policy_refused", id=id, at=at, body={"by": by, "errors": _listed(errors)})


def tool_quarantined(*, id: str, at: datetime, tool: str, reason: str) -> Event:
    """Say that a tool's definition can't be enforced, so it is neither listed nor callable."""
    return _event("tool_quarantined", id=id, at=at, body={"tool": tool, "reason": reason[:_TEXT]})


def tool_changed(
    *, id: str, at: datetime, tool: str, pinned: str, found: str, changes: Sequence[str] = ()
) -> Event:
    """Say that a server publishes another definition than the reviewed one."""
    body: JsonObject = {"tool": tool, "pinned": pinned, "found": found, "changes": _listed(changes)}
    return _event("tool_changed", id=id, at=at, body=body)


def name_collision(*, id: str, at: datetime, name: str, tools: Sequence[str]) -> Event:
    """Say that several tools would be exposed under one name, and none of them is."""
    return _event("name_collision", id=id, at=at, body={"name": name, "tools": _listed(tools)})


def auth_rejected(
    *,
    id: str,
    at: datetime,
    reason: str,
    count: int,
    since: datetime,
    peers: Sequence[str] = (),
    transport: str = "",
    methods: Sequence[str] = (),
    details: Sequence[str] = (),
) -> Event:
    """Say how many requests were turned away for one reason since a time; not one event each.

    `details` are what the credentials' owners were told; a credential itself is never here.
    """
    body = _turned_away(
        reason=reason,
        count=count,
        since=since,
        peers=peers,
        transport=transport,
        methods=methods,
    )
    return _event("auth_rejected", id=id, at=at, body={**body, "details": _listed(details)})


def request_refused(
    *,
    id: str,
    at: datetime,
    reason: str,
    count: int,
    since: datetime,
    peers: Sequence[str] = (),
    transport: str = "",
    methods: Sequence[str] = (),
) -> Event:
    """Say how many requests were too malformed to be calls, without anything of their bodies."""
    body = _turned_away(
        reason=reason,
        count=count,
        since=since,
        peers=peers,
        transport=transport,
        methods=methods,
    )
    return _event("request_refused", id=id, at=at, body=body)


def events_refused(*, id: str, at: datetime, count: int, since: datetime, reason: str) -> Event:
    """Say that the log could not take `count` events: the gap is flagged, never silent."""
    body: JsonObject = {"count": count, "since": since.isoformat(), "reason": reason[:_TEXT]}
    return _event("events_refused", id=id, at=at, body=body)


def gateway_started(
    *, id: str, at: datetime, revision: str, servers: Sequence[str], mode: Mode = Mode.ENFORCE
) -> Event:
    """Say that a gateway process is at work."""
    body: JsonObject = {"revision": revision, "servers": _listed(servers), "mode": str(mode)}
    return _event("gateway_started", id=id, at=at, body=body)


def gateway_stopped(*, id: str, at: datetime, reason: str) -> Event:
    """Say that a gateway process ended in order."""
    return _event("gateway_stopped", id=id, at=at, body={"reason": reason[:_TEXT]})


def log_read(
    *,
    id: str,
    at: datetime,
    how: str,
    account: str,
    by: str = "",
    tenant: str = "",
    asked: JsonObject | None = None,
    events: int | None = None,
) -> Event:
    """Say that somebody read the log: by which command or page, what he asked for, how much he got.

    `account` is the user of the machine whose command it was, `by` who is said to have asked, or
    who was logged in. With `tenant`, where only that one's events were read, it is among them.
    """
    body: JsonObject = {"how": how, "by": by[:_TEXT], "account": account}
    if asked:
        body["asked"] = {name: _short(value) for name, value in asked.items()}
    if events is not None:
        body["events"] = events
    return replace(_event("log_read", id=id, at=at, body=body), tenant=tenant)


def operation_resolved(
    *,
    id: str,
    at: datetime,
    operation: Operation,
    to: OpState,
    evidence: str,
    by: str,
    account: str,
) -> Event:
    """Say that a person settled an operation, or its way back, of which nobody knew.

    Texts are redacted already.

    `by` is who is said to have decided, `account` the user of the machine whose command it was.
    """
    body: JsonObject = {
        "op": operation.op_id,
        "tool": operation.tool,
        "from": str(operation.state),
        "to": str(to),
        "evidence": evidence[:_TEXT],
        "by": by[:_TEXT],
        "account": account,
    }
    return _about(operation, "operation_resolved", id=id, at=at, body=body)


def compensation_requested(
    *,
    id: str,
    at: datetime,
    operation: Operation,
    undo: Operation,
    reason: str,
    by: str,
    account: str,
) -> Event:
    """Say that somebody wants an operation undone, and by which other one."""
    body: JsonObject = {
        "op": operation.op_id,
        "tool": operation.tool,
        "undo": undo.op_id,
        "undo_tool": undo.tool,
        "reason": reason[:_TEXT],
        "by": by[:_TEXT],
        "account": account,
    }
    return _about(operation, "compensation_requested", id=id, at=at, body=body)


def compensation_ended(
    *, id: str, at: datetime, operation: Operation, undo: str, to: OpState, evidence: str
) -> Event:
    """Say what a compensation did to the operation that it was to undo."""
    body: JsonObject = {
        "op": operation.op_id,
        "tool": operation.tool,
        "undo": undo,
        "from": str(operation.state),
        "to": str(to),
        "evidence": evidence[:_TEXT],
    }
    return _about(operation, "compensation_ended", id=id, at=at, body=body)


def _about(operation: Operation, action: str, *, id: str, at: datetime, body: JsonObject) -> Event:
    """Return an event that is found with those of the call that sent the operation."""
    event = _event(action, id=id, at=at, body=body)
    return replace(event, tenant=operation.tenant, call=operation.call_id, run=operation.run_id)


def _turned_away(
    *,
    reason: str,
    count: int,
    since: datetime,
    peers: Sequence[str],
    transport: str,
    methods: Sequence[str],
) -> JsonObject:
    return {
        "reason": reason[:_TEXT],
        "count": count,
        "since": since.isoformat(),
        "peers": _listed(peers),
        "transport": transport,
        "methods": _listed(methods),
    }


def _event(action: str, *, id: str, at: datetime, body: JsonObject) -> Event:
    return Event(
        id=id, at=at, kind=EventKind.ADMIN, stage=Stage.RECORDED, body={"action": action, **body}
    )


def _short(value: Json) -> Json:
    return value[:_TEXT] if isinstance(value, str) else value


def _listed(texts: Sequence[str]) -> list[Json]:
    return [text[:_TEXT] for text in texts[:_LISTED]]
