"""The books of the help desk."""

import sqlite3
from pathlib import Path

import pytest

from gateway.demo.helpdesk import HelpDesk, NotFound, Totals


def test_a_search_without_a_tenant_finds_the_customers_of_every_tenant(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    assert {row["id"] for row in desk.search("MAR", "", 50)} == {
        "c-1001", "c-1002", "c-1003", "c-1004", "c-2001", "c-2002"
    }  # fmt: skip


def test_a_search_with_a_tenant_finds_its_own_customers_up_to_the_limit(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    assert [row["id"] for row in desk.search("mar", "globex", 50)] == ["c-2002", "c-2001"]
    assert len(desk.search("mar", "acme", 3)) == 3


def test_a_customer_of_another_tenant_is_not_found(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    with pytest.raises(NotFound, match="`c-2001`"):
        desk.customer("c-2001", "acme")


def test_what_is_written_is_in_the_totals(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    desk.add_note("c-1001", "acme", "called")
    desk.refund("c-1001", "acme", 2550, "EUR", "charged twice")
    desk.delete("c-1002", "acme")
    desk.open_ticket("c-1001", "acme", "Charged twice", "", "r-1")
    assert desk.totals() == Totals(
        customers=5, notes=1, opened=1, refunds=1, cancelled=0, refunded_cents=2550
    )


def test_deleting_a_customer_deletes_the_notes(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    desk.add_note("c-1001", "", "called")
    desk.delete("c-1001", "")
    assert desk.totals().notes == 0


def test_a_refund_to_another_tenants_customer_books_nothing(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    with pytest.raises(NotFound):
        desk.refund("c-2001", "acme", 100, "EUR", "a mistake")
    assert desk.totals().refunds == 0


def test_the_same_reference_is_the_same_ticket_of_a_customer(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    first = desk.open_ticket("c-1001", "acme", "Charged twice", "by card", "r-1")
    assert desk.open_ticket("c-1001", "acme", "Charged twice", "in cash", "r-1") == first
    assert desk.open_ticket("c-1002", "acme", "Charged twice", "", "r-1")["id"] != first["id"]
    assert desk.find_tickets("c-1001", "acme", "r-1") == [first]
    assert len(desk.find_tickets("c-1001", "acme", "")) == 2
    with pytest.raises(NotFound):
        desk.find_tickets("c-1001", "globex", "r-1")


def test_a_ticket_without_a_reference_is_a_new_one_each_time(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    opened = [desk.open_ticket("c-1001", "", "Charged twice", "", "")["id"] for _ in range(2)]
    assert opened == ["t-4", "t-5"]


def test_refunds_under_one_reference_are_booked_each_time_and_cancelled_once(
    tmp_path: Path,
) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    for _ in range(2):
        desk.refund("c-1001", "acme", 100, "EUR", "a mistake", reference="r-1")
    desk.refund("c-1001", "acme", 300, "EUR", "a mistake", reference="r-2")
    cancelled = desk.cancel_refunds("c-1001", "acme", "r-1")
    assert [each["status"] for each in cancelled] == ["cancelled", "cancelled"]
    assert desk.cancel_refunds("c-1001", "acme", "r-1") == cancelled
    assert [each["status"] for each in desk.find_refunds("c-1001", "", "r-2")] == ["booked"]
    assert (desk.totals().cancelled, desk.totals().refunded_cents) == (2, 300)


@pytest.mark.parametrize("reference", ["", "r-9"])
def test_what_was_not_refunded_can_not_be_cancelled(tmp_path: Path, reference: str) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    desk.refund("c-1001", "acme", 100, "EUR", "a mistake")
    with pytest.raises(NotFound, match="no refund"):
        desk.cancel_refunds("c-1001", "acme", reference)
    assert desk.totals().cancelled == 0


def test_tickets_are_filtered_by_tenant_and_state(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    assert [ticket["id"] for ticket in desk.tickets("acme", "open")] == ["t-1", "t-2"]
    assert desk.tickets("acme", "closed") == []


def test_books_are_never_made_over_existing_ones(tmp_path: Path) -> None:
    HelpDesk.create(tmp_path / "db")
    with pytest.raises(sqlite3.OperationalError):
        HelpDesk.create(tmp_path / "db")
