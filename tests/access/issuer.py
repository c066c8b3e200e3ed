"""An OpenID Connect provider of the test's own, on a port of this machine."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import get_default_algorithms

Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


class Issuer:
    """Signs what it is asked to, and publishes its keys: `keys` by their ids, with their algorithm."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, Private]] = {}
        self.extra: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.broken = False
        self.url = ""

    def rotate(self, kid: str, algorithm: str = "RS256") -> None:
        """One new key in the place of all others."""
        made: Private = (
            rsa.generate_private_key(65537, 2048)
            if algorithm[:2] in ("RS", "PS")
            else ec.generate_private_key(ec.SECP256R1())
            if algorithm == "ES256"
            else ed25519.Ed25519PrivateKey.generate()
        )
        self.keys = {kid: (algorithm, made)}

    def public(self, kid: str) -> bytes:
        """A public key as PEM: what an attacker may know."""
        return self.keys[kid][1].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def token(self, *, header: dict[str, Any] | None = None, kid: str | None = None, **claims: Any) -> str:
        """A token that holds, but for what is said otherwise; a claim of None is left out."""
        name = kid or next(iter(self.keys))
        algorithm, key = self.keys[name]
        now = int(time.time())
        said = {"iss": self.url, "aud": "postmill", "sub": "ada", "iat": now, "exp": now + 300,
                "role": "operator", "tenant": "acme"} | claims  # fmt: skip
        given = {claim: value for claim, value in said.items() if value is not None}
        return jwt.encode(given, key, algorithm, headers={"kid": name} | (header or {}))

    def answer(self, path: str) -> tuple[int, Any]:
        """What it says over HTTP."""
        self.asked.append(path)
        if self.broken:
            return 500, {}
        if path == "/.well-known/openid-configuration":
            return 200, {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        known = [
            json.loads(get_default_algorithms()[algorithm].to_jwk(key.public_key()))
            | {"kid": kid, "use": "sig"}
            for kid, (algorithm, key) in self.keys.items()
        ]
        return 200, {"keys": known + self.extra}


@contextmanager
def serving(issuer: Issuer) -> Iterator[Issuer]:
    """The provider listens until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, document = issuer.answer(self.path)
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
