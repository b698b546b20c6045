import socket
import threading

import pytest

from gateway.app import posting
from gateway.app.posting import Posted, post
from tests.helpers.webhooks import receiving


async def test_what_is_sent_arrives_as_it_is() -> None:
    with receiving() as receiver:
        headers = {"Content-Type": "application/json", "webhook-id": "n1"}
        assert await post(receiver.url, headers, b'{"a":1}') == Posted()
        (got,) = receiver.got
    assert (got.path, got.body, got.headers["webhook-id"]) == ("/hook", b'{"a":1}', "n1")
    assert got.headers["content-type"] == "application/json"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_never_followed(status: int) -> None:
    with receiving() as receiver:
        receiver.statuses = [status]
        receiver.headers = {"Location": f"{receiver.url}/elsewhere"}
        posted = await post(receiver.url, {}, b"{}")
        assert [got.path for got in receiver.got] == ["/hook"]
    assert "redirects are not followed" in posted.problem
    assert not posted.is_final


async def test_what_the_answer_says_is_never_part_of_the_problem() -> None:
    with receiving() as receiver:
        receiver.statuses, receiver.body = [500], b"token=abcdefgh " * 100_000
        posted = await post(receiver.url, {}, b"{}")
    assert posted == Posted(problem="the answer was HTTP 500")


async def test_a_receiver_may_ask_for_a_pause_and_for_an_end() -> None:
    with receiving() as receiver:
        receiver.statuses, receiver.headers = [429], {"Retry-After": "30"}
        assert (await post(receiver.url, {}, b"{}")).pause_s == 30.0
        receiver.statuses, receiver.headers = [503], {"Retry-After": "9" * 400}
        assert (await post(receiver.url, {}, b"{}")).pause_s == 3600.0
        receiver.statuses, receiver.headers = [503], {"Retry-After": "Fri, 31 Dec 2027"}
        assert (await post(receiver.url, {}, b"{}")).pause_s == 0.0
        receiver.statuses, receiver.headers = [410], {}
        assert (await post(receiver.url, {}, b"{}")).is_final


async def test_an_address_where_nobody_listens_is_a_problem_without_its_url() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/services/secret"
    problem = (await post(url, {}, b"{}")).problem
    assert "while sending" in problem
    assert "secret" not in problem


async def test_a_receiver_that_never_answers_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "TIMEOUT_S", 0.1)
    with receiving() as receiver:
        receiver.go = threading.Event()
        assert (await post(receiver.url, {}, b"{}")).problem == "no answer within 0.1 s"
