"""The script of the demo: what the agents ask for, and what has to come of it.

Read it as a story. Two agents work for two tenants of one help desk; the answers that they get are
the point, and the servers behind the gateway would have carried out nearly everything.
"""

from typing import Final

from gateway.demo.decisions import DECISIONS, refund, refund_of
from gateway.demo.runs import RUNS
from gateway.demo.scene import ACME, GLOBEX, Cue, Line, Step, Surprise
from gateway.demo.writes import WRITES
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status

CHANGED_TOOL: Final = "desk__list_tickets"
TIME_TOOL: Final = "time__get_current_time"


def _tickets(result: JsonObject) -> str:
    listed = _rows(result, "tickets")
    return f"{len(listed)} tickets, filtered by tenant {_filter(result)}"


def _customers(result: JsonObject) -> str:
    found = _rows(result, "customers")
    for customer in found:
        if "phone" in customer or "@" in str(customer.get("email")):
            raise Surprise("contact details left the gateway")
    first = found[0] if found else {}
    limit = result.get("limit")
    return (
        f"{len(found)} customers of tenant {_filter(result)}, limit 500 became {limit}, no phone, "
        f"e-mail as {str(first.get('email'))[:18]}.."
    )


def _record(result: JsonObject) -> str:
    if "phone" in result or "@" in str(result.get("email")):
        raise Surprise("contact details left the gateway")
    return f"{result.get('name')}, {result.get('city')}; no phone, e-mail as a digest"


def _note(result: JsonObject) -> str:
    return f"note {result.get('note_id')} on {result.get('customer_id')}"


def _time(result: JsonObject) -> str:
    return f"it is {result.get('datetime')} in {result.get('timezone')}"


def _rows(result: JsonObject, key: str) -> list[JsonObject]:
    rows = result.get(key)
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    if not found:
        raise Surprise(f"no {key} came back")
    return found


def _filter(result: JsonObject) -> str:
    tenant = result.get("tenant")
    if not tenant:
        raise Surprise("the tenant was not written into the arguments")
    return str(tenant)


_FIRST: Final[tuple[Step, ...]] = (
    Step(
        tenant=ACME,
        shows="a read that is allowed; policy writes the tenant into the arguments",
        tool=CHANGED_TOOL,
        rule="desk.tickets",
        observe=_tickets,
    ),
    Step(
        tenant=ACME,
        shows="an id from a ticket's text proves nothing: tickets are written by customers",
        tool="desk__refund",
        arguments=refund_of(25),
        status=Status.PROVENANCE_FAILED,
        code="origin_unknown",
    ),
    Step(
        tenant=ACME,
        shows="so it is looked up; the result is cut down to what policy lets out",
        tool="crm__search_customers",
        arguments={"query": "mar", "limit": 500},
        rule="crm.search",
        observe=_customers,
        events_of="the look-up",
    ),
    Step(
        tenant=ACME,
        shows="the same refund again: now the id has an origin",
        tool="desk__refund",
        arguments=refund_of(25),
        rule="desk.refund.small",
        observe=refund,
        events_of="the refund",
    ),
)
_WEIGHED: Final[tuple[Step, ...]] = (
    Step(
        tenant=ACME,
        shows="no person either above the cap",
        tool="desk__refund",
        arguments=refund_of(5000),
        status=Status.DENIED,
        rule="desk.refund.cap",
        code="amount_over_cap",
    ),
    Step(
        tenant=ACME,
        shows="arguments that don't fit: told where, what was expected and what came",
        tool="desk__refund",
        arguments=refund_of("25,00"),
        status=Status.INVALID_ARGUMENTS,
        code="schema",
    ),
    Step(
        tenant=ACME,
        shows="NaN is not JSON, though Python writes it; `NaN > 1000` would be false",
        tool="desk__refund",
        arguments=refund_of(float("nan")),
        status=Status.INVALID_ARGUMENTS,
        code="not_json",
        raw=True,
    ),
    Step(
        tenant=ACME,
        shows="another tenant's name in the arguments",
        tool="crm__get_customer",
        arguments={"customer_id": "c-2001", "tenant": GLOBEX},
        status=Status.DENIED,
        rule="guard.own-tenant-only",
        code="cross_tenant_argument",
    ),
    Step(
        tenant=ACME,
        shows="a record, minimised",
        tool="crm__get_customer",
        arguments={"customer_id": "c-1001"},
        rule="crm.read",
        observe=_record,
    ),
    Step(
        tenant=ACME,
        shows="a write",
        tool="crm__add_note",
        arguments={"customer_id": "c-1001", "text": "25 EUR paid back for t-1."},
        rule="crm.note",
        observe=_note,
    ),
    Step(
        tenant=ACME,
        shows="the second of two a minute",
        tool="crm__add_note",
        arguments={"customer_id": "c-1001", "text": "Told her that it takes two days."},
        rule="crm.note",
        observe=_note,
    ),
    Step(
        tenant=ACME,
        shows="the third is told how long to wait",
        tool="crm__add_note",
        arguments={"customer_id": "c-1001", "text": "Closed t-1."},
        status=Status.LIMIT_EXCEEDED,
        rule="crm.note",
        code="notes-per-user",
    ),
    Step(
        tenant=ACME,
        shows="a destructive tool that this role may use on test records only",
        tool="crm__delete_customer",
        arguments={"customer_id": "c-1001"},
        status=Status.DENIED,
        rule="crm.delete.customer",
        code="customers_are_kept",
    ),
    Step(
        tenant=ACME,
        shows="a tool that the model made up",
        tool="crm__merge_customers",
        arguments={"from": "c-1001", "into": "c-1002"},
        status=Status.UNKNOWN_TOOL,
    ),
    Step(
        tenant=GLOBEX,
        shows="the other tenant asks the same question and sees its own customers",
        tool="crm__search_customers",
        arguments={"query": "mar", "limit": 500},
        rule="crm.search",
        observe=_customers,
    ),
    Step(
        tenant=GLOBEX,
        shows="a tool that isn't listed for the role `viewer` doesn't exist for it",
        tool="crm__add_note",
        arguments={"customer_id": "c-2001", "text": "Called back."},
        status=Status.UNKNOWN_TOOL,
    ),
    Step(
        tenant=GLOBEX,
        shows="a viewer may read tickets, but this credential doesn't have the scope for it",
        tool=CHANGED_TOOL,
        status=Status.FORBIDDEN,
    ),
    Step(
        tenant=GLOBEX,
        shows="a published server from PyPI, pinned and reviewed like any other",
        tool=TIME_TOOL,
        arguments={"timezone": "Europe/Zurich"},
        rule="time.read",
        observe=_time,
    ),
)
_CHANGED: Final = Step(
    tenant=ACME,
    shows="the desk rewrites the description of a tool, with an order to the model in it",
    tool=CHANGED_TOOL,
    status=Status.TOOL_CHANGED,
    code="pin_mismatch",
    cue=Cue.REWRITE,
)

SCRIPT: Final[tuple[Line, ...]] = (*_FIRST, *DECISIONS, *_WEIGHED, *WRITES, *RUNS, _CHANGED)


def script(*, with_time: bool) -> tuple[Line, ...]:
    """Return the script, without the PyPI server's step where it isn't installed."""
    return tuple(
        line for line in SCRIPT if with_time or not isinstance(line, Step) or line.tool != TIME_TOOL
    )
