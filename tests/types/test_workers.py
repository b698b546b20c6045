"""How a worker is named, to people and in ids."""

from gateway.types.workers import Worker


def test_a_worker_is_named_by_its_number() -> None:
    assert str(Worker(number=2, of=4)) == "2 of 4"
    assert Worker(number=2, of=4).mark == "w2"
