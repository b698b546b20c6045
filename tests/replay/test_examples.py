from gateway.replay.examples import Example
from tests.helpers.replays import a_known_case, a_law, a_secret_note, policy, recorded, rule


def test_a_call_is_told_with_its_place_in_the_log_and_who_made_it() -> None:
    law = a_law(policy(rule()), a_secret_note())
    told = Example.of(recorded(a_known_case(law, run_id="run_1")))
    assert str(told) == f"{told.call} in run_1, event 1, {told.user} of {told.tenant}"
    assert told.as_json()["seq"] == 1
