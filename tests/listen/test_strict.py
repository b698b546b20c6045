"""One strict parse of a message, with the arguments' faults told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.listen.rpc import RpcError
from gateway.listen.strict import Incoming, check_request, decode, is_request, usable_id
from gateway.types.json import Json, JsonObject

CAP = 1 << 20


def _decoded(body: bytes) -> Incoming:
    incoming = decode(body, max_bytes=CAP)
    assert isinstance(incoming, Incoming), incoming
    return incoming


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        (b"NaN", ""),
        (b'{"a": -Infinity}', "/a"),
        (b'{"a": {"b": [0, 1e400]}}', "/a/b/1"),
        (b'{"x": "],}\\"", "a": 1, "a": 2}', "/a"),
        (b'{"a": 0.1000000000000000055511151231257827021181583404541015625001}', "/a"),
    ],
)
def test_faults_of_the_arguments_leave_the_rest_readable(arguments: bytes, pointer: str) -> None:
    body = b'{"id":1,"params":{"name":"t","arguments": %b ,"_meta":{"k":1}},"method":"x"}'
    incoming = _decoded(body % arguments)
    assert incoming.message == {
        "id": 1,
        "method": "x",
        "params": {"name": "t", "arguments": {}, "_meta": {"k": 1}},
    }
    assert incoming.input_error
    assert f"`{pointer}`" in incoming.input_error or not pointer


@pytest.mark.parametrize(
    "body",
    [
        b'{"params":{"arguments":{"a":NaN},"arguments":{}}}',
        b'{"params":{"arguments":{"a":NaN}},"id":1,"id":2}',
        b'{"params":{"arguments":{"a":NaN}},"x":NaN}',
        b'{"params":{"_meta":{"a":NaN},"arguments":{}}}',
        b'{"params":{"\\u0061rguments":{"a":NaN}}}',
        b'{"params":{"arguments":{"a":NaN}}',
        b'{"params":{"arguments":{"a":NaN',
        b"",
        b"\xff",
    ],
)
def test_any_other_fault_is_a_parse_error(body: bytes) -> None:
    error = decode(body, max_bytes=CAP)
    assert isinstance(error, RpcError)
    assert error.code == -32700


@given(
    st.dictionaries(
        st.text(max_size=4),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            ),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_what_stands_beside_a_fault_is_read_as_if_there_were_none(rest: dict[str, Json]) -> None:
    others = {key: value for key, value in rest.items() if key != "params"}
    whole: JsonObject = {**others, "params": {"a": rest, "arguments": "CUT", "z": rest}}
    body = jsontext.dump(whole).replace(b'"CUT"', b'{"n":[NaN,"]}"]}')
    expected: JsonObject = {**others, "params": {"a": rest, "arguments": {}, "z": rest}}
    assert _decoded(body).message == expected


def test_a_hostile_text_takes_linear_time() -> None:
    body = b'{"params":{"arguments":{"a":NaN,"b":"' + b'\\"' * 400_000
    assert isinstance(decode(body, max_bytes=CAP), RpcError)


def test_an_envelope_is_checked_part_by_part() -> None:
    good: JsonObject = {"jsonrpc": "2.0", "method": "x"}
    assert check_request(good) is None
    assert check_request({**good, "id": 1, "params": {}}) is None
    wrongs: list[JsonObject] = [
        {"jsonrpc": 2},
        {"method": None},
        {"id": None},
        {"id": 1.0},
        {"params": []},
    ]
    for wrong in wrongs:
        error = check_request({**good, **wrong})
        assert error is not None
        assert error.code == -32600


@pytest.mark.parametrize("value", [None, True, 1.5, [], {}])
def test_only_text_and_integers_are_ids(value: Json) -> None:
    assert usable_id(value) is None


values = st.sampled_from([None, True, 0, 7, 1.0, "", "2.0", "tools/call", [], {}, {"a": 1}])


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result"]), values),
    st.booleans(),
)
def test_what_is_seen_to_be_a_request_is_one(members: JsonObject, is_usual: bool) -> None:
    usual: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "x"} if is_usual else {}
    message = {**usual, **members}
    is_one = check_request(message) is None and usable_id(message.get("id")) is not None
    assert is_request(message) is is_one
