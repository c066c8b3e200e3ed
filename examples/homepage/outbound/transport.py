"""An HTTP transport that connects to permitted addresses only, at each hop of a redirect."""

from __future__ import annotations

import ssl
from functools import cache

import httpx

from examples.homepage.outbound.addresses import Addresses

_PORTS = {"http": 80, "https": 443}


class GuardedTransport(httpx.AsyncBaseTransport):
    """Looks an address up, asks whether it may be reached, and connects to just that one, by the name for TLS and Host.

    `trusted`: whose certificates are; by default what httpx trusts.
    """

    def __init__(self, addresses: Addresses, trusted: ssl.SSLContext | None = None) -> None:
        self._addresses = addresses
        # No connection is kept: two names at one address must not share one that was made for the other.
        self._inner = httpx.AsyncHTTPTransport(
            verify=trusted or _public(), limits=httpx.Limits(max_keepalive_connections=0), trust_env=False
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises AddressRefused besides what httpx does."""
        url = request.url
        host = url.raw_host.decode("ascii")
        if url.scheme not in _PORTS or not host:
            raise httpx.UnsupportedProtocol(
                f"{str(url)!r:.200} is no address of http or https", request=request
            )
        try:
            address = await self._addresses.of(host, url.port or _PORTS[url.scheme])
        except (OSError, UnicodeError) as fault:
            raise httpx.ConnectError(f"{host}: {fault}", request=request) from fault
        pinned = httpx.Request(
            request.method,
            url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return await self._inner.handle_async_request(pinned)

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()


@cache
def _public() -> ssl.SSLContext:
    """What httpx trusts, read once."""
    return httpx.create_ssl_context(trust_env=False)
