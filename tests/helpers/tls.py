"""Certificates made for a test, and a TLS front before a fake that speaks plain HTTP."""

import contextlib
import socket
import ssl
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """An authority that nobody trusts by itself; `file` is what `tls.ca` takes."""

    name: x509.Name
    key: ec.EllipticCurvePrivateKey
    file: Path

    @classmethod
    def make(cls, folder: Path) -> Self:
        """Make one, with its certificate in a folder."""
        key, name = ec.generate_private_key(ec.SECP256R1()), _name("test authority")
        made = _certificate(name, name, key, key, days=(-1, 1)).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        file = folder / "ca.pem"
        file.write_bytes(_pem(made.sign(key, hashes.SHA256())))
        return cls(name, key, file)

    def issue(self, *, host: str = "127.0.0.1", days: tuple[int, int] = (-1, 1)) -> ssl.SSLContext:
        """Return what a server with a certificate of this authority uses."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _certificate(_name("server"), self.name, key, self.key, days=days)
        made = made.add_extension(x509.SubjectAlternativeName([_host(host)]), critical=False)
        return _context(self.file.parent, made.sign(self.key, hashes.SHA256()), key)


def self_signed(folder: Path) -> ssl.SSLContext:
    """Return what a server uses whose certificate nobody else has signed."""
    key, name = ec.generate_private_key(ec.SECP256R1()), _name("server")
    made = _certificate(name, name, key, key, days=(-1, 1))
    made = made.add_extension(x509.SubjectAlternativeName([_host("127.0.0.1")]), critical=False)
    return _context(folder, made.sign(key, hashes.SHA256()), key)


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: Any, signer: Any, *, days: tuple[int, int]
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    of_signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + days[0] * DAY)
        .not_valid_after(now + days[1] * DAY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(of_signer, critical=False)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _context(
    folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> ssl.SSLContext:
    file = folder / f"{certificate.serial_number:x}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(_pem(certificate) + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


class TlsFront:
    """Ends TLS before a plain server, as a reverse proxy does; counts who connects.

    with TlsFront(FakeHttp(...).url, authority.issue()) as front:
        front.url           # https://127.0.0.1:…/mcp
        front.context = …   # for connections from now on: the certificate was renewed
    """

    def __init__(self, behind: str, context: ssl.SSLContext) -> None:
        host, _, port = behind.split("/")[2].partition(":")
        self._behind = (host, int(port))
        self.context = context
        self.connections = 0
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    def cut(self) -> None:
        """Cut what is open; new connections are taken as ever."""
        for each in tuple(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"https://127.0.0.1:{self._listener.getsockname()[1]}/mcp"

    def _start(self, work: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self._listener.accept()
                self.connections += 1
                self._start(self._serve, accepted)

    def _serve(self, accepted: socket.socket) -> None:
        self._open.add(accepted)
        with accepted, contextlib.suppress(OSError):
            accepted.settimeout(5)
            with self.context.wrap_socket(accepted, server_side=True) as front:
                front.settimeout(None)
                self._open.add(front)
                with socket.create_connection(self._behind) as back:
                    self._open.add(back)
                    self._start(self._pump, back, front)
                    self._pump(front, back)

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
