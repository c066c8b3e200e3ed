"""Which addresses are asked for something that somebody else named: public ones, and those that the settings allow.

An address is looked up once, and the connection goes to just that one: a name that has another address a moment later
leads nowhere else.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from examples.homepage.settings import Network

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Host and port in, addresses out; raises OSError where there are none."""

_NAT64 = ip_network("64:ff9b::/96")


class AddressRefused(Exception):
    """A host whose addresses are all private ones."""

    def __init__(self, host: str, found: Iterable[str]) -> None:
        super().__init__(
            f"{host} is {', '.join(found) or 'nowhere'}, which is not public; HOMEPAGE_ALLOW_PRIVATE may allow it"
        )


async def system_addresses(host: str, port: int) -> list[str]:
    """As the system resolves names; forms such as 0x7f000001 are addresses, too."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Addresses:
    """`allowed`: networks that are reached although they are not public."""

    def __init__(self, allowed: Iterable[Network] = (), resolve: Resolve = system_addresses) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolve

    def permits(self, text: str) -> bool:
        """Whether this address may be reached."""
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            return False
        if any(address in network for network in self._allowed):
            return True
        inner = _embedded(address)
        return _public(address) if inner is None else self.permits(str(inner))

    async def of(self, host: str, port: int) -> str:
        """The address to connect to. Raises AddressRefused, or OSError where the name is unknown."""
        found = await self._resolve(host, port)
        for address in found:
            if self.permits(address):
                return address
        raise AddressRefused(host, found)


def _public(address: Address) -> bool:
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 one leads to."""
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
