"""Where requests may come from: the setting `server.allow_from`."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address, ip_network

from fastapi import Request

from postmill.api.problems import Problem

ANYWHERE: frozenset[tuple[str, str]] = frozenset({("GET", "/healthz"), ("GET", "/readyz")})
"""What probes ask."""

ANYWHERE_BELOW = "/api/v1/webhooks/"
"""Inbound webhooks come from others, and are signed."""


class Origins:
    """The networks; without any, everywhere."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = [ip_network(text) for text in networks]

    def check(self, request: Request, path: str) -> None:
        """Raises Problem (403) for a request from elsewhere. Behind a proxy that is not trusted, its address counts."""
        if not self._networks or (request.method, path) in ANYWHERE or path.startswith(ANYWHERE_BELOW):
            return
        text = "" if request.client is None else request.client.host
        try:
            address = ip_address(text)
        except ValueError:
            # A socket of the machine itself has no address.
            raise _elsewhere(text) from None
        mapped = getattr(address, "ipv4_mapped", None)
        if not any((mapped or address) in network for network in self._networks):
            raise _elsewhere(text)


def _elsewhere(text: str) -> Problem:
    return Problem(403, "origin-refused", f"requests from {text or 'nowhere'} are not let in here")
