"""How people reach the server: for login links."""

from __future__ import annotations

import contextlib
import ipaddress

from postmill.cli.run import Run
from postmill.client.address import left_by_up


def link(run: Run, token: str, url: str | None = None) -> str:
    """The address of a login link: below what was given, what is set, what `postmill up` left here, or the default."""
    server = run.settings.server
    base = (
        url
        or server.public_url
        or (None if run.settings.dsn else left_by_up(variable=ADDRESS))
        or address(server.host, server.port)
    )
    if not url and not server.public_url:
        base += server.root_path
    return f"{base.rstrip('/')}/login?token={token}"


ADDRESS = "POSTMILL_SERVER__PUBLIC_URL"
"""The variable by which `postmill up` leaves the address of its server."""


def address(host: str, port: int) -> str:
    """The URL of a server that listens there, as this machine reaches it."""
    if host in ("", "0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"
