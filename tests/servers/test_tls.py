"""Handshakes that fail, against real TLS servers with certificates made for the test."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import uvloop

from gateway.errors import ConfigurationError
from gateway.servers import tls, wire
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script
from tests.helpers.fleets import call, first_text, http_entry, running
from tests.helpers.tls import Authority, TlsFront, self_signed

Front = Callable[[Authority], ssl.SSLContext]
FRONTS: dict[str, tuple[Front, str]] = {
    "expired": (lambda of: of.issue(days=(-3, -1)), "has expired"),
    "early": (lambda of: of.issue(days=(1, 3)), "not valid yet"),
    "host": (lambda of: of.issue(host="other.example"), "for another"),
    "address": (lambda of: of.issue(host="127.0.0.2"), "for another address"),
    "self-signed": (lambda of: self_signed(of.file.parent), "self-signed; name it under `tls.ca`"),
}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.make(tmp_path)


def refused(url: str, context: ssl.SSLContext, runner: Callable[..., object]) -> wire.Unreachable:
    """Post on one of the loops that the gateway may run on; it has to fail."""
    caught: list[wire.Unreachable] = []

    async def post() -> None:
        pool = wire.Pool(url, connect_s=5, idle_s=1, tls=context)
        async with asyncio.timeout(4):
            with pytest.raises(wire.Unreachable) as info:
                await pool.post(b"{}")
        caught.append(info.value)

    runner(post())
    return caught[0]


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
@pytest.mark.parametrize("which", FRONTS)
def test_a_certificate_that_is_refused_is_told_with_its_fault(
    which: str, runner: Callable[..., object], authority: Authority
) -> None:
    """case: LIF-06"""
    make, words = FRONTS[which]
    with TlsFront("http://127.0.0.1:1/", make(authority)) as front:
        fault = refused(front.url, tls.trusting(str(authority.file), verify=True), runner)
    assert words in fault.reason
    assert fault.slow
    assert "_ssl.c" not in fault.reason


def test_an_authority_that_is_not_known_is_told_with_its_mend(authority: Authority) -> None:
    with TlsFront("http://127.0.0.1:1/", authority.issue()) as front:
        fault = refused(front.url, tls.trusting("", verify=True), asyncio.run)
    assert fault.reason.endswith("is not trusted; name it under `tls.ca`")


@pytest.mark.parametrize("runner", [asyncio.run, uvloop.run])
def test_a_server_of_plain_http_is_told_from_one_with_a_bad_certificate(
    runner: Callable[..., object],
) -> None:
    """case: LIF-06"""
    with FakeHttp(Script()) as fake:
        url = fake.url.replace("http:", "https:")
        fault = refused(url, tls.trusting("", verify=True), runner)
    assert fault.reason.startswith("it does not speak TLS; write its URL with `http://`")
    assert fault.slow


async def test_a_named_authority_is_trusted_and_so_is_anybody_where_that_is_wanted(
    authority: Authority,
) -> None:
    with FakeHttp(Script()) as fake, TlsFront(fake.url, authority.issue()) as front:
        named = replace(http_entry(fake), url=front.url, tls_ca=str(authority.file))
        blind = replace(http_entry(fake, "blind"), url=front.url, tls_verify=False)
        async with running(named, blind) as servers:
            assert first_text(await call(servers.server("alpha"))) == "echo"
            assert first_text(await call(servers.server("blind"))) == "echo"


@pytest.mark.parametrize(
    ("text", "words"), [(None, "no such file"), ("words", "holds no certificate in PEM form")]
)
def test_a_file_of_authorities_that_can_not_be_used_is_named(
    tmp_path: Path, text: str | None, words: str
) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigurationError, match=words) as caught:
        tls.trusting(str(file), verify=True)
    assert f"`{file}`" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_other_fault_of_a_handshake_has_its_name() -> None:
    error = ssl.SSLError(1, "[SSL] x (_ssl.c:1)")
    assert tls.reason_of(error) == "the TLS handshake failed: no reason given"
    assert tls.reason_of(ssl.SSLEOFError(8, "EOF")) == "it ended the TLS handshake"
