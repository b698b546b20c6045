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
    assert desk.totals() == Totals(customers=5, notes=1, refunds=1, refunded_cents=2550)


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


def test_tickets_are_filtered_by_tenant_and_state(tmp_path: Path) -> None:
    desk = HelpDesk.create(tmp_path / "db")
    assert [ticket["id"] for ticket in desk.tickets("acme", "open")] == ["t-1", "t-2"]
    assert desk.tickets("acme", "closed") == []


def test_books_are_never_made_over_existing_ones(tmp_path: Path) -> None:
    HelpDesk.create(tmp_path / "db")
    with pytest.raises(sqlite3.OperationalError):
        HelpDesk.create(tmp_path / "db")
