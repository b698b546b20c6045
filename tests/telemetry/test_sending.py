import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from gateway.clock import SystemClock
from gateway.telemetry.environment import Destination
from gateway.telemetry.health import silence_sdk
from gateway.telemetry.sending import NotingSession, Sender
from tests.helpers.otlp_receiver import OtlpReceiver, otlp_receiver
from tests.helpers.tls import Authority, TlsFront

PAUSE_S = 0.01


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    silence_sdk()
    with otlp_receiver() as receiver:
        yield receiver


def a_sender(url: str, **changes: Any) -> Sender:
    fields: dict[str, Any] = {"endpoint": f"{url}/v1/traces", "timeout_s": 5.0}
    destination = Destination(**(fields | changes))
    return Sender(destination, SystemClock(), first_pause_s=PAUSE_S)


class Answers:
    """Makes a receiver answer one thing after the other, and the last one from then on."""

    def __init__(self, receiver: OtlpReceiver, *statuses: int) -> None:
        self._rest = list(statuses)
        self._take = receiver.take
        receiver.take = self.take  # type: ignore[method-assign]

    def take(self, request: Any) -> int:
        self._take(request)
        return self._rest.pop(0) if len(self._rest) > 1 else self._rest[0]


@pytest.mark.parametrize(
    ("status", "error"), [(200, ""), (302, "HTTP 302"), (400, "HTTP 400"), (503, "HTTP 503")]
)
def test_the_session_remembers_the_class_of_a_failure(
    receiver: OtlpReceiver, status: int, error: str
) -> None:
    receiver.answer = status
    with NotingSession() as session:
        session.post(receiver.url, data=b"x", timeout=5, allow_redirects=False)
        assert session.last_error == error


def test_the_session_remembers_that_nobody_was_there() -> None:
    with NotingSession() as session:
        with pytest.raises(requests.ConnectionError):
            session.post("http://127.0.0.1:1", data=b"x", timeout=5)
        assert session.last_error == "ConnectionError"


@pytest.mark.parametrize("compression", ["none", "gzip", "deflate"])
def test_a_body_arrives_with_its_headers(receiver: OtlpReceiver, compression: str) -> None:
    sender = a_sender(receiver.url, compression=compression, headers={"X-Team": "a"})
    assert sender.send(b"body" * 100) == ""
    sender.close()
    (request,) = receiver.requests
    assert (request.path, request.body) == ("/v1/traces", b"body" * 100)
    assert request.headers["content-type"] == "application/x-protobuf"
    assert request.headers["x-team"] == "a"
    assert request.headers.get("content-encoding", "none") == compression


def test_each_body_has_its_own_length(receiver: OtlpReceiver) -> None:
    sender = a_sender(receiver.url)
    bodies = [b"x" * size for size in (3, 70_000, 1)]
    assert [sender.send(body) for body in bodies] == ["", "", ""]
    sender.close()
    assert [request.body for request in receiver.requests] == bodies


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"headers": {"x-team": "a\nb"}}, "InvalidHeader"),
        ({"endpoint": "http://[::1/v1/traces"}, "InvalidURL"),
        ({"certificate": "/no/such/file"}, "OSError"),
    ],
)
def test_what_could_not_even_be_sent_did_not_arrive(changes: dict[str, Any], error: str) -> None:
    """case: OBS-07"""
    sender = a_sender("https://127.0.0.1:1", **changes)
    assert sender.send(b"x") == error
    sender.close()


def test_proxies_of_the_environment_are_used(
    receiver: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", receiver.url)
    monkeypatch.setenv("no_proxy", "")
    sender = a_sender("http://collector.invalid")
    assert sender.send(b"x") == ""
    assert receiver.requests[0].path == "http://collector.invalid/v1/traces"
    sender.close()


@pytest.mark.parametrize("passing", [429, 502, 503, 504])
def test_what_passes_is_tried_again(receiver: OtlpReceiver, passing: int) -> None:
    Answers(receiver, passing, passing, 200)
    sender = a_sender(receiver.url)
    assert sender.send(b"x") == ""
    assert [request.body for request in receiver.requests] == [b"x"] * 3
    sender.close()


@pytest.mark.parametrize("final", [302, 400, 404, 500])
def test_what_does_not_pass_is_not(receiver: OtlpReceiver, final: int) -> None:
    """case: OBS-07"""
    receiver.answer = final
    sender = a_sender(receiver.url)
    assert sender.send(b"x") == f"HTTP {final}"
    assert len(receiver.requests) == 1
    sender.close()


def test_tries_end_after_some(receiver: OtlpReceiver) -> None:
    receiver.answer = 503
    sender = a_sender(receiver.url)
    assert sender.send(b"x") == "HTTP 503"
    assert len(receiver.requests) == 6
    sender.close()


def test_tries_end_when_the_next_would_come_too_late(receiver: OtlpReceiver) -> None:
    receiver.answer = 503
    destination = Destination(endpoint=receiver.url, timeout_s=2.0)
    sender = Sender(destination, SystemClock(), first_pause_s=60)
    assert sender.send(b"x") == "HTTP 503"
    assert len(receiver.requests) == 1
    sender.close()


def test_a_collector_that_hangs_is_given_up(receiver: OtlpReceiver) -> None:
    """case: OBS-02"""
    receiver.hang = True
    sender = a_sender(receiver.url, timeout_s=0.2)
    assert sender.send(b"x") == "ReadTimeout"
    sender.close()


def test_nobody_there_is_tried_again_until_there_is_no_time() -> None:
    sender = a_sender("http://127.0.0.1:1", timeout_s=0.1)
    assert sender.send(b"x") == "ConnectionError"
    sender.close()


def test_retries_are_broken_off(receiver: OtlpReceiver) -> None:
    """case: OBS-02"""
    receiver.answer = 503
    destination = Destination(endpoint=receiver.url, timeout_s=600)
    sender = Sender(destination, SystemClock(), first_pause_s=300)
    ended: list[str] = []
    thread = threading.Thread(target=lambda: ended.append(sender.send(b"x")), daemon=True)
    thread.start()
    receiver.wait_for(lambda: len(receiver.requests) == 1)
    sender.abort()
    thread.join(15)
    assert ended == ["HTTP 503"]


def test_one_connection_is_kept(receiver: OtlpReceiver) -> None:
    sender = a_sender(receiver.url)
    for _ in range(3):
        assert sender.send(b"x") == ""
    session: Any = sender._session  # pyright: ignore[reportPrivateUsage]
    (pool,) = session.get_adapter(receiver.url).poolmanager.pools._container.values()
    assert (pool.num_connections, pool.num_requests) == (1, 3)
    sender.close()


def test_a_body_that_no_collector_takes_is_not_sent(receiver: OtlpReceiver) -> None:
    sender = a_sender(receiver.url)
    assert sender.send(bytes(64 * 1024 * 1024 + 1)) == "request too large"
    assert receiver.requests == []
    sender.close()


def test_a_certificate_that_is_not_there_is_told_by_its_class() -> None:
    sender = a_sender("https://127.0.0.1:1", certificate="/nowhere/ca.pem")
    assert sender.send(b"x") == "OSError"
    sender.close()


def test_the_authority_that_is_named_is_trusted_and_no_other(
    receiver: OtlpReceiver, tmp_path: Path
) -> None:
    authority = Authority.make(tmp_path)
    with TlsFront(receiver.url, authority.issue()) as front:
        url = front.url.removesuffix("/mcp")
        sender = a_sender(url, certificate=str(authority.file))
        assert sender.send(b"x") == ""
        sender.close()
        stranger = a_sender(url, timeout_s=0.1)
        assert stranger.send(b"x") == "SSLError"
        stranger.close()
    assert len(receiver.requests) == 1


def test_we_show_our_own_certificate(receiver: OtlpReceiver, tmp_path: Path) -> None:
    authority = Authority.make(tmp_path)
    context = authority.issue()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    before = set(tmp_path.iterdir())
    authority.issue(host="client")
    (ours,) = set(tmp_path.iterdir()) - before  # certificate and key in one file
    with TlsFront(receiver.url, context) as front:
        url, ca = front.url.removesuffix("/mcp"), str(authority.file)
        for more in ({"client_certificate": str(ours)}, {"client_key": str(ours)}):
            shown: dict[str, str] = {"client_certificate": str(ours), **more}
            sender = a_sender(url, certificate=ca, **shown)
            assert sender.send(b"x") == ""
            sender.close()
        assert len(receiver.requests) == 2
        stranger = a_sender(url, certificate=ca, timeout_s=0.1)
        assert stranger.send(b"x") != ""
        stranger.close()
    assert len(receiver.requests) == 2


def test_a_connection_that_was_closed_meanwhile_costs_nothing(
    receiver: OtlpReceiver, tmp_path: Path
) -> None:
    authority = Authority.make(tmp_path)
    with TlsFront(receiver.url, authority.issue()) as front:
        destination = Destination(
            endpoint=front.url.removesuffix("/mcp"), certificate=str(authority.file)
        )
        sender = Sender(destination, SystemClock(), first_pause_s=60)  # no time for a second try
        assert sender.send(b"1") == ""
        front.cut()
        assert sender.send(b"2") == ""
        sender.close()
        assert front.connections == 2


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 0),
        ("7", 7),
        ("soon", 0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Sun, 06 Nov 2094 08:49:37 -0000", 1e9),
    ],
)
def test_a_collector_says_when_to_come_back(text: str, seconds: float) -> None:
    answer = requests.Response()
    answer.headers["retry-after"] = text
    sender = a_sender("http://127.0.0.1:1")
    asked = sender._asked_s(answer)  # pyright: ignore[reportPrivateUsage]
    assert asked == seconds or asked > seconds == 1e9


def test_what_a_collector_asks_for_is_waited_for(receiver: OtlpReceiver) -> None:
    receiver.answer = 503
    sender = a_sender(receiver.url, timeout_s=2.0)
    sender._asked_s = lambda _: 60.0  # type: ignore[method-assign]
    assert sender.send(b"x") == "HTTP 503"  # it would come too late
    assert len(receiver.requests) == 1
    sender.close()
