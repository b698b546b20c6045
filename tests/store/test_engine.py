from collections.abc import Callable

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Lock, Row, numbered
from gateway.types.event_rows import COLUMNS

Connect = Callable[..., Engine]


def value_of(engine: Engine, name: str) -> str | None:
    with engine.reading() as reading:
        found = reading.fetch("get_fact", {"name": name})
    return found[0].text("value") if found else None


def test_a_column_is_read_as_the_type_it_has() -> None:
    row = Row({"a": "x", "b": 1, "c": 1.5})
    assert (row.text("a"), row.integer("b"), row.number("b"), row.number("c")) == ("x", 1, 1.0, 1.5)
    for read in (row.integer, row.number):
        with pytest.raises(TypeError):
            read("a")
    with pytest.raises(TypeError):
        row.text("b")


def test_equal_rows_have_one_key_however_they_were_made() -> None:
    whole, listed = Row({"a": "x", "b": 1}), Row.of(("a", "b"), ("x", 1))
    assert whole.key == listed.key == (("a", "b"), ("x", 1))
    assert (listed.text("a"), listed.integer("b"), listed.says({"b": 1})) == ("x", 1, True)
    assert Row.of(("b", "a"), ("x", 1)).key != whole.key
    with pytest.raises(KeyError):
        listed.text("c")
    with pytest.raises(ValueError, match="shorter"):
        Row.of(("a", "b"), ("x",)).text("a")


@pytest.mark.parametrize("durable", [True, False])
def test_a_transaction_is_committed_when_its_block_ends(connect: Connect, durable: bool) -> None:
    with connect().transaction(durable=durable) as transaction:
        changed = transaction.execute("keep_fact", {"name": "a", "value": "1"})
    assert changed == 1
    assert value_of(connect(), "a") == "1"


def test_a_transaction_that_raises_leaves_nothing(connect: Connect) -> None:
    engine = connect()

    def fail() -> None:
        with engine.transaction() as transaction:
            transaction.execute("keep_fact", {"name": "a", "value": "1"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert value_of(engine, "a") is None


def test_many_rows_go_in_with_one_statement(connect: Connect) -> None:
    engine = connect()
    with engine.transaction() as transaction:
        transaction.execute_many("keep_fact", [{"name": n, "value": n} for n in "abc"])
    assert value_of(engine, "c") == "c"


def numbered_rows(bodies: list[str]) -> list[tuple[str | int, ...]]:
    between = [""] * (len(COLUMNS) - 4)
    return [(n, n, str(n), *between, body) for n, body in enumerate(bodies, 1)]


def test_rows_that_are_there_already_are_left_alone_and_the_others_go_in(connect: Connect) -> None:
    engine = connect()
    for bodies in (["a", "b"], ["a", "b", "c", "d"]):
        with engine.transaction() as transaction:
            transaction.insert("append_event", COLUMNS, numbered_rows(bodies))
    with engine.reading() as reading:
        texts = reading.fetch_numbered("query_events", {"limit": 9})
    assert texts == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


@pytest.mark.parametrize(
    "bodies", [[], [""], ["{}", "é ✓ 𝄞", ""], ["one", "two\nlines", "", "\n"]], ids=repr
)
def test_numbered_texts_come_as_they_were_whatever_is_in_them(
    connect: Connect, bodies: list[str]
) -> None:
    engine = connect()
    with engine.transaction() as transaction:
        transaction.insert("append_event", COLUMNS, numbered_rows(bodies))
    with engine.reading() as reading:
        found = reading.fetch_texts("leaves_after", {"after": 0, "last": 9, "limit": 9})
        page = reading.fetch_texts("leaves_after", {"after": 1, "last": 9, "limit": 1})
        texts = reading.fetch_numbered("query_events", {"limit": 9})
        last = reading.fetch_numbered(
            "query_events", {"limit": 9, "after": 1}, where="WHERE seq > :after"
        )
    expected = [(number, body.encode()) for number, body in enumerate(bodies, 1)]
    assert (found, page) == (expected, expected[1:2])
    assert texts == [*enumerate(bodies, 1)]
    assert last == texts[1:]


def test_what_is_no_number_with_a_text_is_told() -> None:
    assert numbered([(1, "a"), (2, "")]) == [(1, "a"), (2, "")]
    for odd in ((1, None), (1, 2), ("1", "a"), (True, "a")):
        with pytest.raises(TypeError, match="not a whole number, or not a text"):
            numbered([(1, "a"), odd])


@pytest.mark.parametrize("value", ["naïve ✓ 𝄞", "100 % :name '\"", "a\nb\tc", ""])
def test_texts_come_back_as_they_were(connect: Connect, value: str) -> None:
    engine = connect()
    with engine.transaction() as transaction:
        transaction.execute("keep_fact", {"name": "a", "value": value})
    assert value_of(engine, "a") == value


def test_a_lock_lets_one_transaction_in_and_the_other_wait_within_a_bound(connect: Connect) -> None:
    first, second = connect(), connect(busy_s=0.2)
    with (
        first.transaction(lock=Lock.EVENTS),
        pytest.raises(StoreUnavailable, match="locked"),
        second.transaction(lock=Lock.EVENTS),
    ):
        pass
    with second.transaction(lock=Lock.EVENTS):
        pass


def test_reading_waits_for_no_writer(connect: Connect) -> None:
    first, second = connect(), connect()
    value_of(second, "a")
    with first.transaction(lock=Lock.EVENTS) as transaction:
        transaction.execute("keep_fact", {"name": "a", "value": "1"})
        assert value_of(second, "a") is None
    assert value_of(second, "a") == "1"


def test_a_fault_in_a_statement_comes_out_in_one_line_and_leaves_the_engine_usable(
    connect: Connect,
) -> None:
    engine = connect()
    row = {"call_id": "c", "limit_id": "l", "key": "k", "amount": 1.0, "at": 1, "expires": 2}
    with pytest.raises(StoreUnavailable) as caught, engine.transaction() as transaction:
        transaction.execute_many("reserve", [row, row])
    assert "\n" not in str(caught.value)
    assert value_of(engine, "a") is None


def test_a_closed_engine_opens_again_on_the_next_use(connect: Connect) -> None:
    engine = connect()
    value_of(engine, "a")
    engine.close()
    engine.close()
    assert value_of(engine, "a") is None
