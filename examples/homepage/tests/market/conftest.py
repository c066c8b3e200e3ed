"""A marketplace with a mail server."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio

from examples.homepage.tests.market.market import Market
from examples.homepage.tests.site import Site
from examples.upstreams.mail.imap import ImapServer
from examples.upstreams.mail.smtp import MailServer


@pytest.fixture
def imap() -> Iterator[ImapServer]:
    """The mailbox of the relay's domain."""
    server = ImapServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="imap")
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def smtp() -> Iterator[MailServer]:
    """The world's mail."""
    server = MailServer()
    server.start()
    yield server
    server.stop()


@pytest_asyncio.fixture
async def market(
    site: Site, imap: ImapServer, smtp: MailServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Market]:
    """A seller, a buyer and a bicycle."""
    [(user, password)] = imap.accounts.items()
    monkeypatch.setenv("MAIL_IMAP_URL", f"imap://{user}:{quote(password)}@127.0.0.1:{imap.port}/INBOX")
    monkeypatch.setenv("MAIL_SMTP_URL", smtp.url)
    monkeypatch.setenv("MAIL_RELAY_DOMAIN", "relay.example")
    monkeypatch.setenv("MAIL_TIMEOUT", "10")
    monkeypatch.setenv("IMAGE_FOLDER", str(tmp_path / "images"))
    made = Market(site, imap, smtp)
    made.seller = await made.member("Sam", "sam@seller.example")
    made.buyer = await made.member("Bea", "Bea@Buyer.example")
    made.listing = await made.offer("Bicycle", "20 days")
    yield made
    await made.rest()
