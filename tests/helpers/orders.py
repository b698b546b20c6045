"""Sixty orders of twenty fields, and arguments that are right or invented, the same every time."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from gateway.app.keeping import Keeping
from gateway.case import Case
from gateway.crossing.books import yielded
from gateway.steps import provenance
from gateway.steps.resolve import Resolve
from gateway.store.store import Store
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Refusal
from gateway.types.runs import Collected, Run, Trust
from gateway.types.tools import (
    Effect,
    Form,
    OnFail,
    ProvenanceRule,
    Source,
    SourceKind,
    Yield,
)
from gateway.types.values import replaced
from tests.helpers.cases import a_call, a_case, a_contract
from tests.helpers.databases import ORIGIN
from tests.helpers.shelves import Law, Shelf, a_resolve

ORDERS = 60
EACH = 1_000
RUN = "run_orders"
YIELDS = (
    Yield(type="shop.order", path="/orders/*/order_id"),
    Yield(type="crm.customer", path="/orders/*/customer_id"),
    Yield(type="shop.invoice", path="/orders/*/invoice_id"),
    Yield(type="crm.email", path="/orders/*/email", form=Form.TEXT),
    Yield(type="shop.tracking", path="/orders/*/tracking"),
    Yield(type="shop.total", path="/orders/*/total", form=Form.NUMBER),
)


def _from(kind: SourceKind, *operands: str) -> tuple[Source, ...]:
    return (Source(kind=kind, operands=operands),)


def _rule(
    pointer: str, sources: tuple[Source, ...], same: str = "", max_of: bool = False
) -> ProvenanceRule:
    return ProvenanceRule(
        pointer=pointer,
        sources=sources,
        on_fail=OnFail.DENY,
        same_record_as=same,
        max_of=max_of,
    )


RULES = (
    _rule("/customer_id", _from(SourceKind.RESULTS, "crm.customer")),
    _rule("/order_id", _from(SourceKind.RESULTS, "shop.order")),
    _rule("/invoice_id", _from(SourceKind.RESULTS, "shop.invoice"), "/customer_id"),
    _rule("/email", _from(SourceKind.RESULTS, "crm.email")),
    _rule("/tracking", _from(SourceKind.RESULTS, "shop.tracking")),
    _rule("/amount", _from(SourceKind.RESULTS, "shop.total"), "/invoice_id", max_of=True),
    _rule("/due_date", _from(SourceKind.COLLECTED, "due_date")),
)
DUE = date(2026, 12, 14)


def orders(chance: random.Random) -> list[JsonObject]:
    """Return the orders; no two have the same customer."""
    customers = chance.sample(range(1000, 10_000), ORDERS)
    return [_order(chance, number, customer) for number, customer in enumerate(customers)]


def _order(chance: random.Random, number: int, customer: int) -> JsonObject:
    total = chance.randrange(500, 90_000) / 100
    return {
        "order_id": chance.randrange(100_000, 1_000_000),
        "customer_id": customer,
        "invoice_id": f"INV-2026-{chance.randrange(10_000, 100_000)}",
        "email": f"{_word(chance)}.{number}@example.com",
        "name": _word(chance).title(),
        "phone": f"+49 30 {chance.randrange(10**6, 10**7)}",
        "street": f"{_word(chance)} {chance.randrange(1, 200)}",
        "zip": f"{chance.randrange(10_000, 100_000)}",
        "country": chance.choice(["DE", "AT", "CH"]),
        "currency": "EUR",
        "status": chance.choice(["open", "paid", "shipped"]),
        "ordered": str(date(2026, 1, 1) + timedelta(days=chance.randrange(330))),
        "due": str(date(2026, 11, 1) + timedelta(days=chance.randrange(60))),
        "total": f"{total:.2f}",
        "tax": round(total * 0.19, 2),
        "discount": chance.randrange(0, 20),
        "sku": f"SKU-{chance.randrange(1000)}",
        "quantity": chance.randrange(1, 10),
        "tracking": chance.getrandbits(63),
        "note": _word(chance) * 5,
    }


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7))


def _swapped(chance: random.Random, value: str) -> str:
    return "".join(chance.choice((mark.upper(), mark.lower())) for mark in value)


Draw = Callable[[random.Random, JsonObject, JsonObject], JsonObject]


def _total(order: JsonObject) -> float:
    return float(str(order["total"]))


# Each draws from an order and from another one, and is turned to in its turn.
TRUE: tuple[Draw, ...] = (
    lambda chance, order, other: {"customer_id": order["customer_id"]},
    lambda chance, order, other: {"order_id": order["order_id"]},
    lambda chance, order, other: {
        "customer_id": order["customer_id"],
        "invoice_id": order["invoice_id"],
    },
    lambda chance, order, other: {"email": _swapped(chance, str(order["email"]))},
    lambda chance, order, other: {"tracking": order["tracking"]},
    lambda chance, order, other: {
        "customer_id": order["customer_id"],
        "invoice_id": order["invoice_id"],
        "amount": round(chance.choice((1.0, chance.random())) * _total(order), 2),
    },
    lambda chance, order, other: {"due_date": str(DUE)},
)
INVENTED: tuple[Draw, ...] = (
    lambda chance, order, other: {"customer_id": chance.randrange(1000, 10_000)},
    lambda chance, order, other: {"order_id": chance.randrange(100_000, 1_000_000)},
    lambda chance, order, other: {
        "customer_id": order["customer_id"],
        "invoice_id": chance.choice(
            (other["invoice_id"], f"INV-2026-{chance.randrange(10_000, 100_000)}")
        ),
    },
    lambda chance, order, other: {"email": f"{_word(chance)}@example.com"},
    lambda chance, order, other: {"tracking": chance.getrandbits(63)},
    lambda chance, order, other: {
        "customer_id": order["customer_id"],
        "invoice_id": order["invoice_id"],
        "amount": round(_total(order) + chance.choice((0.01, 1.0, 1000.0)), 2),
    },
    lambda chance, order, other: {
        "due_date": str(DUE + timedelta(days=chance.choice((-1, 1)) * chance.randrange(1, 182)))
    },
)


def arguments(
    chance: random.Random, found: list[JsonObject], draws: tuple[Draw, ...]
) -> Iterator[JsonObject]:
    """Yield a thousand arguments, of each kind in turn."""
    for number in range(EACH):
        order, other = chance.sample(found, 2)
        yield draws[number % len(draws)](chance, order, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A tool whose arguments have to come from somewhere, and a run that was given the orders."""

    keeping: Keeping
    resolve: Resolve
    case: Case  # of a call without arguments, within the run
    orders: list[JsonObject]

    async def refusal(self, sent: JsonObject) -> Refusal | None:
        """Look up and judge one call as the pipeline does; None when it may go on."""
        traced = await self.resolve.traced(replaced(self.case, call=a_call(arguments=sent)))
        judged = provenance.check(replaced(traced, arguments=sent))
        return judged if isinstance(judged, Refusal) else None


async def opened(folder: Path, seed: int = 7) -> Counter:
    """Open a store in which a run was given the orders by one read."""
    found = orders(random.Random(seed))
    store = Store.open(f"sqlite:///{folder}/store.db", origin=ORIGIN)
    keeping = Keeping(store=store)
    read = a_case(contract=a_contract(yields=YIELDS), effect=Effect.READ)
    listed: list[Json] = [*found]
    values = yielded(read, {"structuredContent": {"orders": listed}})
    await keeping.remember(read.actor, RUN, read.tool.key, values)
    field = Collected(value=str(DUE), trust=Trust.HOST, source="user", at=0)
    run = Run(run_id=RUN, tenant="acme", owner="o", user="sam", fields={"due_date": field})
    resolve = a_resolve(Shelf(()), Law(read.revision))
    resolve.seen = keeping
    case = a_case(contract=a_contract(provenance=RULES), run=run, run_id=RUN)
    return Counter(keeping=keeping, resolve=resolve, case=case, orders=found)
