"""Ids: unique, sortable by time, and of the forms that others expect."""

import os
import re
import time
from unittest.mock import patch

from gateway import ids

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def moment(ulid: str) -> int:
    """Return the milliseconds in the first ten letters."""
    value = 0
    for letter in ulid[:10]:
        value = 32 * value + CROCKFORD.index(letter)
    return value


def test_a_ulid_has_26_letters_and_the_time_that_it_was_made_at() -> None:
    before = time.time_ns() // 1_000_000
    made = ids.ulid()
    after = time.time_ns() // 1_000_000
    assert re.fullmatch(f"[{CROCKFORD}]{{26}}", made)
    assert made[0] in "01234567"  # 128 bits
    assert before <= moment(made) <= after


def test_the_time_is_in_order_and_that_of_its_moment_whatever_was_asked_before() -> None:
    moments = [0, 1, 1023, 1 << 10, 1 << 20, 1_795_000_000_123, 1, (1 << 48) - 1]
    for at in moments:
        with patch("time.time_ns", return_value=at * 1_000_000 + 999_999):
            assert moment(ids.ulid()) == at


def test_no_two_are_the_same() -> None:
    made = {ids.ulid() for _ in range(10_000)}
    assert len(made) == 10_000
    assert len({each[10:] for each in made}) == 10_000


def test_every_letter_is_possible_at_every_random_place() -> None:
    made = [ids.ulid() for _ in range(2_000)]
    for place in range(10, 26):
        assert {each[place] for each in made} == set(CROCKFORD)


def test_a_name_says_what_an_id_is_of() -> None:
    assert re.fullmatch(f"call_[{CROCKFORD}]{{26}}", ids.new("call"))


def test_spans_and_traces_have_the_hex_digits_of_their_standard() -> None:
    assert re.fullmatch("[0-9a-f]{16}", ids.span_id())
    assert re.fullmatch("[0-9a-f]{32}", ids.trace_id())
    assert len({ids.span_id() for _ in range(1_000)}) == 1_000
    assert len({ids.trace_id() for _ in range(1_000)}) == 1_000


def test_traces_sort_by_their_time_and_end_in_what_a_sampler_may_go_by() -> None:
    with patch("time.time_ns", return_value=1_764_540_000_000_000_000):
        made = [ids.trace_id() for _ in range(300)]
    assert {each[:12] for each in made} == {f"{1_764_540_000_000:012x}"}
    for place in range(12, 32):
        assert len({each[place] for each in made}) == 16


def test_the_system_is_asked_once_for_many_ids() -> None:
    with patch("gateway.ids.os.urandom", side_effect=os.urandom) as asked:
        for _ in range(1_000):
            for make in (ids.ulid, ids.trace_id, ids.span_id, ids.two_span_ids):
                make()
    assert asked.call_count < 20
    assert sum(each.args[0] for each in asked.call_args_list) < 80_000


def test_two_spans_at_once_are_as_random_as_two() -> None:
    made = [each for _ in range(500) for each in ids.two_span_ids()]
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in made)
    assert len(set(made)) == 1_000


def test_a_forked_child_makes_ids_of_its_own() -> None:
    for make in (ids.trace_id, ids.ulid):
        make()  # so that there is spare randomness that a child could share
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, make().encode())
            os._exit(0)
        os.waitpid(child, 0)
        theirs = os.read(reading, 64).decode()
        os.close(reading)
        os.close(writing)
        assert theirs[12:] not in {make()[12:] for _ in range(300)}
