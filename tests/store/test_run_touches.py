"""Counters of runs that are not written yet."""

from gateway.store.run_touches import Touched


def test_what_could_not_be_written_is_added_to_what_came_meanwhile() -> None:
    touched = Touched()
    touched.note("run_2", 5, calls=1, tokens=0)
    touched.note("run_1", 3, calls=1, tokens=10)
    noted = touched.taken()
    assert [row["run_id"] for row in noted.rows()] == ["run_1", "run_2"]
    assert touched.rows() == []
    touched.note("run_1", 2, calls=2, tokens=1)
    touched.take_back(noted)
    assert touched.rows()[0] == {"run_id": "run_1", "active_at": 3, "calls": 3, "tokens": 11}
