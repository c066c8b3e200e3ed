"""A page reaches public addresses only, whatever it tries: tags, scripts, workers, sockets, redirects, names that change."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from examples.homepage.tests.wild import Names, eyes, wild_pages

FOREIGN = "127.0.0.2"


class Elsewhere(asyncio.DatagramProtocol):
    """An address that counts who comes, by TCP and by UDP."""

    def __init__(self) -> None:
        self.address = ""
        self.port = 0
        self.came: list[bytes] = []

    def datagram_received(self, data: bytes, addr: object) -> None:
        """Somebody has sent something."""
        self.came.append(b"udp " + data[:20])

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody has connected."""
        self.came.append(b"tcp " + await reader.read(80))
        writer.close()


@asynccontextmanager
async def elsewhere() -> AsyncIterator[Elsewhere]:
    """It listens meanwhile, on one port by both ways."""
    made = Elsewhere()
    server = await asyncio.start_server(made.connected, FOREIGN, 0)
    made.port = server.sockets[0].getsockname()[1]
    made.address = f"{FOREIGN}:{made.port}"
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: made, local_addr=(FOREIGN, made.port), family=socket.AF_INET
    )
    try:
        yield made
    finally:
        transport.close()
        server.close()
        await server.wait_closed()


async def test_nothing_that_a_page_does_reaches_a_private_address() -> None:
    """In one browser: a page with all kinds of requests, one that goes there itself, a redirect, a name that changes."""
    names = Names({"changing.example": [["127.0.0.1"], [FOREIGN]], "both.example": [[FOREIGN, "127.0.0.1"]]})
    async with elsewhere() as foreign:
        with wild_pages(foreign.address) as pages:
            port = pages.server_address[1]
            async with eyes("127.0.0.1", names=names) as seen:
                assert await seen.outcome(f"{pages.url}/private") == "nothing"
                for path in (
                    "/away",
                    f"/to?url=http://{foreign.address}/",
                    f"/to?url=https://{foreign.address}/",
                ):
                    assert await seen.outcome(pages.url + path) == "! address_refused"
                assert FOREIGN in seen.proxy.faults
                # Its document comes from where it was at first; what it asks for a moment later does not come at all.
                before = pages.asked.copy()
                assert await seen.outcome(f"http://changing.example:{port}/good") == "A page"
                assert (pages.asked - before)["/good"] == 1
                assert await seen.outcome(f"http://changing.example:{port}/good") == "! address_refused"
                assert await seen.outcome(f"http://both.example:{port}/good") == "A page"
                assert foreign.came == []
            async with eyes("127.0.0.1", FOREIGN) as seen:
                await seen.outcome(f"{pages.url}/private")
                kinds = {
                    line.split(b" ")[2].split(b"?")[0] for line in foreign.came if line.startswith(b"tcp GET")
                }
                tried = {
                    b"/img",
                    b"/script",
                    b"/iframe",
                    b"/fetch",
                    b"/events",
                    b"/worker",
                    b"/service",
                    b"/imported.js",
                }
                assert tried <= kinds, "where it may, it does"
                assert any(line.startswith(b"tcp \x16") for line in foreign.came), "https and wss, too"
                assert not any(line.startswith(b"udp") for line in foreign.came), "never by UDP"
