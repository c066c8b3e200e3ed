"""TLS to an address that was looked up before: the certificate is asked of for the name, and only that name's will do."""

from __future__ import annotations

import datetime
import ssl
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from examples.homepage.outbound.addresses import Addresses
from examples.homepage.outbound.transport import GuardedTransport
from examples.upstreams.feeds.server import FeedServer


def certificate(name: str, folder: Path) -> tuple[Path, Path]:
    """A certificate of a name that has signed itself, and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files[1].write_bytes(key.private_bytes(*plain))
    return files


async def here(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def test_the_certificate_is_of_the_name(service: FeedServer, tmp_path: Path) -> None:
    chain, key = certificate("feed.example", tmp_path)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(chain, key)
    asked: list[str | None] = []
    own.sni_callback = lambda _socket, name, _context: asked.append(name)
    service.socket = own.wrap_socket(service.socket, server_side=True)
    addresses = Addresses([ip_network("127.0.0.1/32")], here)
    transport = GuardedTransport(addresses, ssl.create_default_context(cafile=str(chain)))
    port = service.server_address[1]
    async with httpx.AsyncClient(transport=transport, trust_env=False) as http:
        answer = await http.get(f"https://feed.example:{port}/corpus/podcast.xml")
        assert answer.status_code == 200
        with pytest.raises(httpx.ConnectError, match=r"other\.example"):
            await http.get(f"https://other.example:{port}/corpus/podcast.xml")
    assert asked == ["feed.example", "other.example"]
