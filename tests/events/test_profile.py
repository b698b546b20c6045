from gateway.events.profile import EVENTS, RESULTS


def test_what_is_kept_is_held_to_more_than_what_an_agent_works_with() -> None:
    assert EVENTS.personal
    assert not RESULTS.personal
    assert EVENTS.max_text < RESULTS.max_text
