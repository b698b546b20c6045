import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError, JsonError, StoreUnavailable
from gateway.events.envelope import Origin, to_json
from gateway.store.sealing import NoSealer, Sealer, opened
from gateway.store.sealing_keys import OtherKey, SealBroken, SealingKeys
from gateway.types.audit import SealedCopy
from gateway.types.events import Event
from gateway.types.json import JsonObject
from tests.helpers.sealed import ARGUMENTS, KEYS, a_decision, a_sealer

_TEXT = st.characters(exclude_categories=["Cs"])
ORIGIN = Origin(instance="test-1", version="0")


def told(event: Event, **changes: str) -> JsonObject:
    return {**to_json(event, ORIGIN), **changes}


def copy_of(event: Event) -> SealedCopy:
    assert event.sealed is not None
    return event.sealed


def open_it(event: Event, copy: SealedCopy, **changes: str) -> JsonObject:
    return opened(KEYS, told(event, **changes), copy.wrapped, copy.content)


@pytest.mark.parametrize("run", ["", "run_1"])
def test_what_was_sealed_is_opened_digit_by_digit(run: str) -> None:
    event = a_sealer().sealed(a_decision(run=run), ARGUMENTS)
    assert jsontext.dump(open_it(event, copy_of(event))) == jsontext.dump(ARGUMENTS)
    assert "DE89" not in jsontext.dump(told(event)).decode() + copy_of(event).content


@pytest.mark.parametrize("name", ["tenant", "call", "id", "run"])
def test_a_copy_opens_beside_no_other_event(name: str) -> None:
    event = a_sealer().sealed(a_decision(run="run_1"), ARGUMENTS)
    with pytest.raises(SealBroken):
        open_it(event, copy_of(event), **{name: "another"})


def test_a_copy_of_another_call_is_not_taken_for_the_own() -> None:
    sealer = a_sealer()
    one, other = (sealer.sealed(a_decision(run="run_1"), {"n": number}) for number in (1, 2))
    with pytest.raises(SealBroken, match="not the copy that the event tells of"):
        open_it(one, copy_of(other))


def test_another_key_opens_nothing() -> None:
    event = a_sealer().sealed(a_decision(), ARGUMENTS)
    copy, other = copy_of(event), SealingKeys(b"o" * 32)
    with pytest.raises(OtherKey):
        opened(other, told(event), copy.wrapped, copy.content)


def test_a_run_has_one_data_key_and_each_call_outside_its_own() -> None:
    sealer = a_sealer()
    keys = [copy_of(sealer.sealed(a_decision(run="run_1"), {})).key for _ in range(2)]
    keys += [copy_of(sealer.sealed(a_decision(), {})).key for _ in range(2)]
    assert len(set(keys)) == 3
    assert keys[0] == keys[1]
    tenants = {copy_of(sealer.sealed(a_decision(run="run_1", tenant=t), {})).key for t in "ab"}
    assert len(tenants) == 2


def test_a_destroyed_key_is_used_no_more() -> None:
    sealer = a_sealer()
    first = copy_of(sealer.sealed(a_decision(run="run_1"), {}))
    sealer.forget("another")
    assert copy_of(sealer.sealed(a_decision(run="run_1"), {})).key == first.key
    sealer.forget(first.key)
    assert copy_of(sealer.sealed(a_decision(run="run_1"), {})).key != first.key


class _Later(SystemClock):
    now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


def test_a_data_key_is_used_for_a_quarter_of_an_hour_and_no_run_is_remembered_for_ever() -> None:
    clock = _Later()
    sealer = Sealer(lambda: KEYS, clock)
    first = copy_of(sealer.sealed(a_decision(run="run_1"), {})).key
    clock.now_s = 901.0
    assert copy_of(sealer.sealed(a_decision(run="run_1"), {})).key != first
    second = copy_of(sealer.sealed(a_decision(run="run_0"), {})).key
    for number in range(2, 1_100):
        sealer.sealed(a_decision(run=f"run_{number}"), {})
    assert copy_of(sealer.sealed(a_decision(run="run_0"), {})).key != second


def test_without_a_key_nothing_is_sealed_until_there_is_one() -> None:
    found: list[SealingKeys] = []

    def read() -> SealingKeys:
        if not found:
            raise ConfigurationError("no key")
        return found[0]

    sealer = Sealer(read, SystemClock())
    with pytest.raises(StoreUnavailable, match="can't be sealed: no key"):
        sealer.sealed(a_decision(), ARGUMENTS)
    found.append(KEYS)
    assert sealer.sealed(a_decision(), ARGUMENTS).sealed is not None


def test_what_is_no_json_is_not_sealed() -> None:
    with pytest.raises(StoreUnavailable):
        a_sealer().sealed(a_decision(), {"half": "\ud800"})
    with pytest.raises(StoreUnavailable):
        NoSealer().sealed(a_decision(), {})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(_TEXT),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(_TEXT), inner),
    max_leaves=20,
)


@given(arguments=st.dictionaries(st.text(_TEXT), _JSON), run=st.sampled_from(["", "run_1"]))
def test_any_arguments_are_opened_as_they_were(arguments: JsonObject, run: str) -> None:
    try:
        dumped = jsontext.dump(arguments)
    except JsonError:  # infinite
        return
    event = a_sealer().sealed(a_decision(run=run), arguments)
    assert jsontext.dump(open_it(event, copy_of(event))) == dumped
