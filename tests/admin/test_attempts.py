from gateway.admin.attempts import Attempts
from tests.helpers.issuer import HandClock


def test_one_address_has_so_many_tries_a_minute() -> None:
    clock = HandClock()
    attempts = Attempts(clock)
    assert [attempts.let("a") for _ in range(61)] == [*[True] * 60, False]
    assert attempts.let("b")
    clock.move(59)
    assert not attempts.let("a")
    clock.move(1)
    assert attempts.let("a")


def test_many_addresses_together_have_a_bound_too() -> None:
    attempts = Attempts(HandClock())
    assert sum(attempts.let(f"10.0.0.{number}") for number in range(1000)) == 300
