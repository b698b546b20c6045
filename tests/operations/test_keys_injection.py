"""The key that a server gets: how it is made, where it is put, what stands in for it before."""

import re
import uuid

import pytest

from gateway.operations.keys import (
    KeyRefused,
    downstream_key,
    filled,
    inject,
    own,
)
from gateway.types.guarantees import Injection, InjectPlace
from gateway.types.json import Json, JsonObject
from tests.operations.keyed import key

INTO_META = Injection(place=InjectPlace.META, name="example/key")


def test_the_key_for_a_server_is_one_per_operation() -> None:
    mine = key({"v": 1})
    first = downstream_key(INTO_META, mine, "op_1")
    assert first == downstream_key(INTO_META, mine, "op_1")
    assert first != downstream_key(INTO_META, mine, "op_2")
    assert first != downstream_key(INTO_META, key({"v": 2}), "op_1")
    assert uuid.UUID(first).version == 5
    assert mine.key.removeprefix("sha256:") not in first


def test_the_key_for_a_server_may_be_plain_hex() -> None:
    plain = Injection(place=InjectPlace.META, name="k", as_uuid=False)
    found = downstream_key(plain, key({}), "op_1")
    assert len(found) == 64
    assert int(found, 16) > 0
    assert found != downstream_key(plain, key({}), "op_2")


def test_a_key_goes_into_an_argument_and_over_what_the_model_put_there() -> None:
    place = Injection(place=InjectPlace.ARGUMENT, name="/options/key")
    given: JsonObject = {"v": 1, "options": {"key": "model's", "dry": False}}
    arguments, meta, headers = inject(given, {}, {}, place, "ours")
    assert arguments == {"v": 1, "options": {"key": "ours", "dry": False}}
    assert (meta, headers) == ({}, {})
    assert given["options"] == {"key": "model's", "dry": False}


def test_the_objects_on_the_way_to_a_key_are_made() -> None:
    place = Injection(place=InjectPlace.ARGUMENT, name="/a/b/c")
    assert inject({}, {}, {}, place, "ours")[0] == {"a": {"b": {"c": "ours"}}}


@pytest.mark.parametrize("options", ["x", None, [1]])
def test_a_key_without_a_place_is_refused(options: Json) -> None:
    place = Injection(place=InjectPlace.ARGUMENT, name="/options/key")
    with pytest.raises(KeyRefused, match="`/options/key`"):
        inject({"options": options}, {}, {}, place, "ours")


def test_a_key_goes_into_meta() -> None:
    meta: JsonObject = {"progressToken": 1}
    assert inject({}, meta, {}, INTO_META, "ours")[1] == {**meta, "example/key": "ours"}
    assert meta == {"progressToken": 1}


def test_a_key_goes_into_a_header_whatever_its_case() -> None:
    place = Injection(place=InjectPlace.HEADER, name="Idempotency-Key")
    sent = inject({}, {}, {"idempotency-key": "model's", "X-Other": "1"}, place, "ours")[2]
    assert sent == {"X-Other": "1", "Idempotency-Key": "ours"}


# --- judging before there is a key -----------------------------------------------------------


@pytest.mark.parametrize(("as_uuid", "form"), [(True, r"[0-9a-f-]{36}"), (False, "0{64}")])
def test_a_stand_in_has_the_form_of_the_key_that_is_sent(as_uuid: bool, form: str) -> None:
    injection = Injection(place=InjectPlace.ARGUMENT, name="/how/key", as_uuid=as_uuid)
    found = filled({"v": 1}, injection)
    how = found["how"]
    assert isinstance(how, dict)
    assert re.fullmatch(form, str(how["key"]))
    real = downstream_key(injection, key({}), "op_1")
    assert len(real) == len(str(how["key"]))
    assert uuid.UUID(real).version == uuid.UUID(str(how["key"])).version if as_uuid else True


@pytest.mark.parametrize("place", [InjectPlace.META, InjectPlace.HEADER, None])
def test_where_no_argument_is_filled_in_arguments_stay(place: InjectPlace | None) -> None:
    arguments: JsonObject = {"key": "k"}
    injection = None if place is None else Injection(place=place, name="key")
    assert filled(arguments, injection) is arguments
    assert own(arguments, injection) is arguments


def test_what_is_overwritten_is_no_argument_of_the_call() -> None:
    injection = Injection(place=InjectPlace.ARGUMENT, name="/key")
    assert own({"key": "the model's", "v": 1}, injection) == {"v": 1}
    with pytest.raises(KeyRefused, match="no place"):
        filled({"how": 1}, Injection(place=InjectPlace.ARGUMENT, name="/how/key"))
