"""How exact JSON gets past models that would round it."""

from gateway import jsontext
from gateway.listen.arrivals import Arrival
from gateway.types.json import JsonObject
from tests.listen.house import a_principal
from tests.listen.library import EXACT


def _arrival() -> Arrival:
    return Arrival(principal=a_principal("ada"), transport="http", tickets={})


def test_an_object_travels_by_ticket_so_that_no_digit_is_lost() -> None:
    arrival = _arrival()
    value: JsonObject = {"n": 10**40, "x": EXACT}
    ticket = arrival.carried(value)
    body = b'data: {"id":1,"result":' + jsontext.dump(ticket) + b"}\r\n\r\n"
    wanted = b'data: {"id":1,"result":' + jsontext.dump(value) + b"}\r\n\r\n"
    assert arrival.redeem(body) == wanted
    assert arrival.redeem(body) == body  # each is good once


def test_meta_stays_where_the_sdk_adds_the_trace_context() -> None:
    arrival = _arrival()
    carried = arrival.carried({"n": EXACT, "_meta": {"own": 1}})
    meta = carried["_meta"]
    assert isinstance(meta, dict)
    written = jsontext.dump({**carried, "_meta": {**meta, "traceparent": "t"}})
    assert arrival.redeem(written) == (
        b'{"n":' + str(EXACT).encode() + b',"_meta":{"own":1,"traceparent":"t"}}'
    )


def test_a_text_that_looks_like_a_ticket_stays_a_text() -> None:
    arrival = _arrival()
    arrival.carried({"n": 1})
    body = b'{"weighbridge.answer":"answer_made_up"}'
    assert arrival.redeem(body) == body


def test_nothing_needs_no_ticket() -> None:
    arrival = _arrival()
    assert arrival.carried({}) == {}
    assert arrival.carried({"_meta": {"a": 1}}) == {"_meta": {"a": 1}}
    assert not arrival.tickets
